package mcptest

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"
)

// A taskTable holds the tasks of one instance. A session sees only its own;
// callers without a session share the rest, so that unguessable ids are all
// that keeps them apart.
type taskTable struct {
	mu   sync.Mutex // guards the fields below
	byID map[string]*task
}

// newID makes a task or session id of at least 128 random bits.
func newID() string { return rand.Text() }

// add stores t, under a new id unless it has one, and drops what has expired by now. It
// fails if the id is taken.
func (tt *taskTable) add(t task, now time.Time) (task, bool) {
	if t.id == "" {
		t.id = newID()
	}
	t.stopped = make(chan struct{})
	tt.mu.Lock()
	defer tt.mu.Unlock()
	if tt.byID == nil {
		tt.byID = map[string]*task{}
	}
	for id, old := range tt.byID {
		if old.expired(now) {
			delete(tt.byID, id)
		}
	}
	if _, taken := tt.byID[t.id]; taken {
		return task{}, false
	}
	tt.byID[t.id] = &t
	return t, true
}

// remove forgets a task, and reports whether there was one.
func (tt *taskTable) remove(id, session string, now time.Time) bool {
	if _, ok := tt.get(id, session, now); !ok {
		return false
	}
	tt.mu.Lock()
	defer tt.mu.Unlock()
	delete(tt.byID, id)
	return true
}

func (tt *taskTable) get(id, session string, now time.Time) (task, bool) {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	t, ok := tt.byID[id]
	if !ok || t.session != session || t.expired(now) {
		return task{}, false
	}
	return *t, true
}

// cancel stops a working task. It returns the task as it was before.
func (tt *taskTable) cancel(id, session string, now time.Time) (before task, ok bool) {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	t, ok := tt.byID[id]
	if !ok || t.session != session || t.expired(now) {
		return task{}, false
	}
	before = *t
	if !t.terminal(now) {
		t.cancelled = now
		close(t.stopped)
	}
	return before, true
}

// list returns the tasks of a session, the oldest first.
func (tt *taskTable) list(session string, now time.Time) []task {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	var own []task
	for _, t := range tt.byID {
		if t.session == session && !t.expired(now) {
			own = append(own, *t)
		}
	}
	slices.SortFunc(own, func(a, b task) int {
		return cmp.Or(a.created.Compare(b.created), strings.Compare(a.id, b.id))
	})
	return own
}

// wait blocks until the task is terminal, expired or cleared: ok is false in
// the last two cases.
func (tt *taskTable) wait(ctx context.Context, id, session string, closed <-chan struct{}) (t task, ok bool, err error) {
	for {
		now := time.Now()
		t, ok = tt.get(id, session, now)
		if !ok || t.terminal(now) {
			return t, ok, nil
		}
		timer := time.NewTimer(min(t.due.Sub(now), t.created.Add(t.ttl).Sub(now)))
		select {
		case <-timer.C:
		case <-t.stopped:
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-closed:
			err = errClosed
		}
		timer.Stop()
		if err != nil {
			return task{}, false, err
		}
	}
}

func (tt *taskTable) clear() {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	tt.byID = nil
}
