package subscriptions

import (
	"context"
	"maps"
	"sync"
	"time"
	"unicode/utf8"

	"berth/internal/mcp"
	"berth/internal/mcp/listen"
	"berth/proxy/bridge/sessions"
)

// MaxUnread is how many notifications a subscription may leave unread. One that leaves more is
// ended: its client opens it anew, and looks.
const MaxUnread = 256

// listener is a modern client's subscription.
type listener struct {
	of    Request
	l     *sessions.Session // whose subscriptions of resources are its own
	whose string
	uris  []string
	heard chan []byte

	mu     sync.Mutex // guards the fields below
	agreed listen.Filter
	recent map[string]*news

	left []byte // of events that were not read yet; of who reads

	moves chan struct{} // of tasks: one may have changed
	stop  context.CancelFunc

	lost  chan struct{} // closed when it can hear no more
	loses sync.Once
	over  sync.Once
}

// SameNews is how long what several sessions tell is told once, and once more in the end: servers tell
// all sessions of a change.
const SameNews = 250 * time.Millisecond

// news is who told something, and when.
type news struct {
	by   *sessions.Session
	at   time.Time
	owed bool // another has told it since
}

// Hear implements sessions.Listener: it has the client told what it asked for.
func (li *listener) Hear(l *sessions.Session, message []byte) {
	s, err := mcp.PeekSubscribed(message, false)
	if err == nil && s.Method == mcp.MethodTaskStatus {
		select {
		case li.moves <- struct{}{}:
		default:
		}
	}
	li.mu.Lock()
	defer li.mu.Unlock()
	if err != nil || !li.agreed.Grants(s.Method, s.URI, s.Task.ID) || !utf8.Valid(message) {
		return
	}
	now, key := time.Now(), string(message)
	maps.DeleteFunc(li.recent, func(_ string, told *news) bool { return now.Sub(told.at) > SameNews })
	switch told := li.recent[key]; {
	case told == nil && len(li.recent) < MaxUnread:
		li.recent[key] = &news{by: l, at: now}
	case told == nil || told.by == l:
	case told.owed:
		return
	default:
		told.owed = true
		time.AfterFunc(SameNews-now.Sub(told.at), func() {
			li.mu.Lock()
			defer li.mu.Unlock()
			li.put(message)
		})
		return
	}
	li.put(message)
}

// put has the client told. The caller holds li.mu.
func (li *listener) put(message []byte) {
	out := mcp.ForSubscription(message, li.of.ID)
	if out == nil {
		return
	}
	select {
	case li.heard <- out:
	default:
		li.Lose()
	}
}

// Lose implements sessions.Listener.
func (li *listener) Lose() { li.loses.Do(func() { close(li.lost) }) }

// leave ends the subscription.
func (li *listener) leave() {
	li.over.Do(func() {
		li.stop()
		li.of.Server.Sessions.Unsubscribe(li.whose, li)
		go func() {
			li.l.Resources.Unsubscribe(context.Background(), li.of.Who.Out, li.uris)
			li.l.GiveBack(false)
		}()
	})
}
