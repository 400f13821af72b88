package ledger

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"berth/internal/storage"
	"berth/upgrade/queues"
	"berth/upgrade/task"
)

// Topic is where berths tell each other what has changed. It is a matter of speed:
// whoever waits looks at the store as well.
const Topic = "upgrade"

// TellTime bounds what telling the others may hold anybody up.
const TellTime = 250 * time.Millisecond

// queuePrefix begins the name under which a queue is told of.
const queuePrefix = "queue:"

// QueueTopic is the name under which a queue is told of.
func QueueTopic(queue string) string { return queuePrefix + queue }

// SessionTopic is the name under which a session is told of.
func SessionTopic(session string) string { return "session:" + session }

// Notices wakes up those in this process who wait for a task, or for a place in a queue.
type Notices struct {
	store  Store
	holder string
	queues *queues.Queues
	pauses *queues.Pauses

	mu       sync.Mutex // guards the field below
	watchers map[string]map[*watch]bool
}

// watch is one who waits. wake is called with the lock held, and does not wait.
type watch struct{ wake func() }

func newNotices(s Store, holder string, q *queues.Queues, p *queues.Pauses) *Notices {
	return &Notices{store: s, holder: holder, queues: q, pauses: p, watchers: map[string]map[*watch]bool{}}
}

// Watch returns a channel that holds a wake-up whenever what it is about may have
// changed, until stop is called.
func (n *Notices) Watch(about string) (woken <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	return c, n.call(about, func() { Signal(c) })
}

// call has wake called in place of a wake-up.
func (n *Notices) call(about string, wake func()) (stop func()) {
	w := &watch{wake}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.watchers[about] == nil {
		n.watchers[about] = map[*watch]bool{}
	}
	n.watchers[about][w] = true
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.watchers[about], w)
		if len(n.watchers[about]) == 0 {
			delete(n.watchers, about)
		}
	}
}

// WakeAll wakes up all in this process who wait.
func (n *Notices) WakeAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, watchers := range n.watchers {
		for w := range watchers {
			w.wake()
		}
	}
}

// Signal wakes up who waits at c, which holds one wake-up.
func Signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // the one that waits there will do
	}
}

// Changed tells everybody that a task has changed, and those who watch its session.
func (n *Notices) Changed(ctx context.Context, t *task.Task) {
	if t.Session == "" {
		n.Tell(ctx, t.ID)
		return
	}
	n.Tell(ctx, t.ID, SessionTopic(t.Session))
}

// Tell tells everybody about one thing or several.
func (n *Notices) Tell(ctx context.Context, about ...string) {
	for _, one := range about {
		n.Wake(one)
	}
	if !n.store.Shared() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), TellTime)
	defer cancel()
	_ = n.store.Notify(ctx, Topic, n.word(about...)) // the others look for themselves in time
}

// TellEach is Tell about as many things as there are.
func (n *Notices) TellEach(ctx context.Context, about []string) {
	for some := range slices.Chunk(about, toldAtOnce) {
		n.Tell(ctx, some...)
	}
}

// toldAtOnce is how many things one notice names.
const toldAtOnce = 64

// word is what other processes are told.
func (n *Notices) word(about ...string) string { return n.holder + " " + strings.Join(about, " ") }

// telling is Tell for other processes as a step.
func (n *Notices) telling(about string) storage.Step { return storage.Notifying(Topic, n.word(about)) }

// Wake wakes up those in this process who wait for a task, or in a queue.
func (n *Notices) Wake(about string) {
	if queue, ok := strings.CutPrefix(about, queuePrefix); ok {
		n.queues.Changed(queue)
	} else if about == queues.PausesTopic {
		n.pauses.Changed()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for w := range n.watchers[about] {
		w.wake()
	}
}
