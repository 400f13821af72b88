package bridge

import (
	"context"
	"maps"
	"sync"
	"time"

	"berth/internal/mcp"
)

// maxUnread is how many notifications a subscription may leave unread. One that leaves more is
// ended: its client opens it anew, and looks.
const maxUnread = 256

// listener is a modern client's subscription.
type listener struct {
	c      *call
	l      *loan // whose subscriptions of resources are its own
	whose  string
	agreed mcp.Filter
	uris   []string
	heard  chan []byte
	recent map[string]*news
	left   []byte // of events that were not read yet; of who reads

	moves chan struct{} // of tasks: one may have changed
	stop  context.CancelFunc

	lost  chan struct{} // closed when it can hear no more
	loses sync.Once
	over  sync.Once
}

// sameNews is how long what several sessions tell is told once, and once more in the end: servers tell
// all sessions of a change.
const sameNews = 250 * time.Millisecond

// news is who told something, and when.
type news struct {
	by   *loan
	at   time.Time
	owed bool // another has told it since
}

// tell has the client told what it asked for. The caller holds f.mu.
func (li *listener) tell(l *loan, message []byte) {
	s, err := mcp.PeekSubscribed(message, false)
	if err == nil && s.Method == mcp.MethodTaskStatus {
		select {
		case li.moves <- struct{}{}:
		default:
		}
	}
	if err != nil || !li.agreed.Grants(&s) {
		return
	}
	now, key := time.Now(), string(message)
	maps.DeleteFunc(li.recent, func(_ string, told *news) bool { return now.Sub(told.at) > sameNews })
	switch told := li.recent[key]; {
	case told == nil && len(li.recent) < maxUnread:
		li.recent[key] = &news{by: l, at: now}
	case told == nil || told.by == l:
	case told.owed:
		return
	default:
		told.owed = true
		time.AfterFunc(sameNews-now.Sub(told.at), func() {
			li.c.f.mu.Lock()
			defer li.c.f.mu.Unlock()
			li.put(message)
		})
		return
	}
	li.put(message)
}

// put has the client told. The caller holds f.mu.
func (li *listener) put(message []byte) {
	out := mcp.ForSubscription(message, li.c.id)
	if out == nil {
		return
	}
	select {
	case li.heard <- out:
	default:
		li.lose()
	}
}

func (li *listener) lose() { li.loses.Do(func() { close(li.lost) }) }

// leave ends the subscription.
func (li *listener) leave() {
	li.over.Do(func() {
		li.stop()
		li.c.f.mu.Lock()
		li.c.f.remove(li)
		li.c.f.mu.Unlock()
		go func() {
			li.unsubscribe(context.Background())
			li.l.giveBack(false)
		}()
	})
}

// add has a subscription hear, and returns the sessions that it is to hear. The caller holds f.mu.
func (f *face) add(li *listener) (sessions []*loan) {
	if f.listeners[li.whose] == nil {
		f.listeners[li.whose] = map[*listener]bool{}
	}
	f.listeners[li.whose][li] = true
	return f.sessionsOf(li.whose)
}

// remove undoes add. What nobody uses is not listened to any more. The caller holds f.mu.
func (f *face) remove(li *listener) {
	delete(f.listeners[li.whose], li)
	if len(f.listeners[li.whose]) > 0 {
		return
	}
	delete(f.listeners, li.whose)
	for _, l := range f.sessionsOf(li.whose) {
		if l.users == 0 {
			l.cover()
		}
	}
}

// sessionsOf are the sessions of a caller. The caller holds f.mu.
func (f *face) sessionsOf(whose string) (sessions []*loan) {
	for _, s := range f.shelves {
		if s.whose == whose {
			sessions = append(sessions, s.loans...)
		}
	}
	return sessions
}
