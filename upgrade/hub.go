package upgrade

import (
	"context"
	"strings"
	"sync"
	"time"
)

// topic is where berths tell each other what has changed. It is a matter of speed:
// whoever waits looks at the store as well.
const topic = "upgrade"

// tellTime bounds what telling the others may hold anybody up.
const tellTime = 250 * time.Millisecond

// queuePrefix begins the name under which a queue is told of.
const queuePrefix = "queue:"

func queueTopic(queue string) string { return queuePrefix + queue }

// sessionPrefix begins the name under which a session is told of.
const sessionPrefix = "session:"

func sessionTopic(session string) string { return sessionPrefix + session }

// hub wakes up those in this process who wait for a task, or for a place in a queue.
type hub struct {
	mu       sync.Mutex // guards the field below
	watchers map[string]map[*watch]bool
}

// watch is one who waits. wake is called with the hub's lock held, and does not wait.
type watch struct{ wake func() }

func newHub() *hub { return &hub{watchers: map[string]map[*watch]bool{}} }

// watch returns a channel that holds a wake-up whenever what it is about may have
// changed, until stop is called.
func (h *hub) watch(about string) (woken <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	return c, h.call(about, func() { signal(c) })
}

// call has wake called in place of a wake-up.
func (h *hub) call(about string, wake func()) (stop func()) {
	w := &watch{wake}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers[about] == nil {
		h.watchers[about] = map[*watch]bool{}
	}
	h.watchers[about][w] = true
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers[about], w)
		if len(h.watchers[about]) == 0 {
			delete(h.watchers, about)
		}
	}
}

func (h *hub) wake(about string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers[about] {
		w.wake()
	}
}

func (h *hub) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, watchers := range h.watchers {
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
func (t *Tasks) changed(ctx context.Context, task *Task) {
	if task.Session == "" {
		t.tell(ctx, task.ID)
		return
	}
	t.tell(ctx, task.ID, sessionTopic(task.Session))
}

// tell tells everybody about one thing or several.
func (t *Tasks) tell(ctx context.Context, about ...string) {
	for _, one := range about {
		t.wake(one)
	}
	if !t.store.Shared() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellTime)
	defer cancel()
	_ = t.store.Notify(ctx, topic, t.holder+" "+strings.Join(about, " ")) // the others look for themselves in time
}

// wake wakes up those in this process who wait for a task, or in a queue.
func (t *Tasks) wake(about string) {
	if queue, ok := strings.CutPrefix(about, queuePrefix); ok {
		t.queues.changed(queue)
	}
	t.hub.wake(about)
}

// heard acts on what a berth has told.
func (t *Tasks) heard(ctx context.Context, message string) {
	from, about, ok := strings.Cut(message, " ")
	switch {
	case !ok:
		t.hub.wakeAll()
		t.lookAtMail(ctx)
	case from == t.holder:
	default:
		for one := range strings.FieldsSeq(about) {
			t.wake(one)
			t.lookAt(ctx, one)
			t.recount(ctx, one)
		}
	}
}

// lookAt gives up the call of a task that has ended, or is another's by now.
func (t *Tasks) lookAt(ctx context.Context, id string) {
	if h := t.custody.get(id); h != nil {
		_ = h.look(ctx) // or its next step finds out
	}
}
