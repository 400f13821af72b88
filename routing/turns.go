package routing

import (
	"context"
	"slices"
	"sync"
)

// turns let callers do something in turn, a few at once: the one who waits with a
// thousand questions gets no more turns than the one who waits with one. Nobody has
// all turns at once either, lest slow questions of one caller keep all others waiting.
type turns struct {
	mu      sync.Mutex // guards the fields below
	free    int
	most    int // turns that one caller may have at once
	taken   map[string]int
	waiting map[string][]chan struct{} // each is closed when its turn has come
	order   []string                   // callers that wait, the next one first
}

// newTurns returns room for all turns at once, of which one caller may have most.
func newTurns(all, most int) *turns {
	return &turns{free: all, most: most, taken: make(map[string]int), waiting: make(map[string][]chan struct{})}
}

// begin waits for caller's turn. It returns ctx's error if that does not come in time;
// then there is nothing to end.
func (t *turns) begin(ctx context.Context, caller string) error {
	mine := t.join(caller)
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
	}
	if t.withdraw(caller, mine) {
		return context.Cause(ctx)
	}
	return nil // it came at the same moment
}

// end gives a turn back.
func (t *turns) end(caller string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free++
	if t.taken[caller]--; t.taken[caller] == 0 {
		delete(t.taken, caller)
	}
	t.grant()
}

func (t *turns) join(caller string) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := make(chan struct{})
	if len(t.waiting[caller]) == 0 {
		t.order = append(t.order, caller)
	}
	t.waiting[caller] = append(t.waiting[caller], mine)
	t.grant()
	return mine
}

// withdraw takes back that caller waits, unless its turn has come.
func (t *turns) withdraw(caller string, mine chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.waiting[caller], mine)
	if i < 0 {
		return false
	}
	t.leave(caller, i)
	return true
}

// grant gives the free turns to those who wait, caller by caller.
func (t *turns) grant() {
	for t.free > 0 {
		next := slices.IndexFunc(t.order, func(caller string) bool { return t.taken[caller] < t.most })
		if next < 0 {
			return
		}
		caller := t.order[next]
		t.free--
		t.taken[caller]++
		close(t.waiting[caller][0])
		t.order = append(slices.Delete(t.order, next, next+1), caller)
		t.leave(caller, 0)
	}
}

// leave removes the i-th who waits for caller, and the caller with the last.
func (t *turns) leave(caller string, i int) {
	t.waiting[caller] = slices.Delete(t.waiting[caller], i, i+1)
	if len(t.waiting[caller]) > 0 {
		return
	}
	delete(t.waiting, caller)
	t.order = slices.DeleteFunc(t.order, func(c string) bool { return c == caller })
}
