package upgrade

import (
	"context"
	"strings"
	"sync"
	"time"

	"berth/upgrade/task"
)

// noticesTopic is where berths tell each other what has changed. It is a matter of speed:
// whoever waits looks at the store as well.
const noticesTopic = "upgrade"

// tellTime bounds what telling the others may hold anybody up.
const tellTime = 250 * time.Millisecond

// queuePrefix begins the name under which a queue is told of.
const queuePrefix = "queue:"

func queueTopic(queue string) string { return queuePrefix + queue }

// sessionPrefix begins the name under which a session is told of.
const sessionPrefix = "session:"

func sessionTopic(session string) string { return sessionPrefix + session }

// notices wakes up those in this process who wait for a task, or for a place in a queue.
type notices struct {
	store  store
	holder string
	queues *queues

	mu       sync.Mutex // guards the field below
	watchers map[string]map[*watch]bool
}

// watch is one who waits. wake is called with the hub's lock held, and does not wait.
type watch struct{ wake func() }

func newNotices(s store, holder string, q *queues) *notices {
	return &notices{store: s, holder: holder, queues: q, watchers: map[string]map[*watch]bool{}}
}

// watch returns a channel that holds a wake-up whenever what it is about may have
// changed, until stop is called.
func (n *notices) watch(about string) (woken <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	return c, n.call(about, func() { signal(c) })
}

// call has wake called in place of a wake-up.
func (n *notices) call(about string, wake func()) (stop func()) {
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

func (n *notices) wakeWatchers(about string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for w := range n.watchers[about] {
		w.wake()
	}
}

func (n *notices) wakeAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, watchers := range n.watchers {
		for w := range watchers {
			w.wake()
		}
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // the one that waits there will do
	}
}

// changed tells everybody that a task has changed, and those who watch its session.
func (n *notices) changed(ctx context.Context, t *task.Task) {
	if t.Session == "" {
		n.tell(ctx, t.ID)
		return
	}
	n.tell(ctx, t.ID, sessionTopic(t.Session))
}

// tell tells everybody about one thing or several.
func (n *notices) tell(ctx context.Context, about ...string) {
	for _, one := range about {
		n.wake(one)
	}
	if !n.store.Shared() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellTime)
	defer cancel()
	_ = n.store.Notify(ctx, noticesTopic, n.holder+" "+strings.Join(about, " ")) // the others look for themselves in time
}

// wake wakes up those in this process who wait for a task, or in a queue.
func (n *notices) wake(about string) {
	if queue, ok := strings.CutPrefix(about, queuePrefix); ok {
		n.queues.changed(queue)
	}
	n.wakeWatchers(about)
}

// heard acts on what a berth has told.
func (p *Peers) heard(ctx context.Context, message string) {
	from, about, ok := strings.Cut(message, " ")
	switch {
	case !ok:
		p.ledger.notices.wakeAll()
		p.lookAtChanges(ctx)
	case from == p.ledger.holder:
	default:
		for one := range strings.FieldsSeq(about) {
			p.ledger.notices.wake(one)
			p.runner.lookAt(ctx, one)
			p.runner.recount(ctx, one)
		}
	}
}

// lookAt gives up the call of a task that has ended, or is another's by now.
func (r *Runner) lookAt(ctx context.Context, id string) {
	if h := r.calls.get(id); h != nil {
		_ = h.look(ctx) // or its next step finds out
	}
}
