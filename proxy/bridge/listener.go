package bridge

import (
	"context"
	"sync"

	"berth/internal/mcp"
)

// maxUnread is how many notifications a subscription may leave unread. One that leaves more is
// ended: its client opens it anew, and looks.
const maxUnread = 256

// listener is a modern client's subscription.
type listener struct {
	c      *call
	l      *loan // whose subscriptions of resources are its own
	shelf  *shelf
	agreed mcp.Filter
	uris   []string
	heard  chan []byte
	left   []byte // of events that were not read yet; of who reads

	moves chan struct{} // of tasks: one may have changed
	stop  context.CancelFunc

	lost  chan struct{} // closed when it can hear no more
	loses sync.Once
	over  sync.Once
}

// tell has the client told what it asked for. The caller holds f.mu.
func (li *listener) tell(message []byte) {
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
	if out := mcp.ForSubscription(message, li.c.id); out != nil {
		li.put(out)
	}
}

// put has the client told this.
func (li *listener) put(out []byte) {
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
		delete(li.shelf.listeners, li)
		if len(li.shelf.listeners) == 0 {
			for _, l := range li.shelf.loans {
				if l.users == 0 {
					l.cover()
				}
			}
		}
		li.shelf.settle()
		li.c.f.mu.Unlock()
		go func() {
			li.unsubscribe(context.Background())
			li.l.giveBack(false)
		}()
	})
}
