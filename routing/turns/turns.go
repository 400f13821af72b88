package turns

import (
	"context"
	"slices"
	"sync"
)

// Turns let callers do something in turn, a few at once: the one who waits with a
// thousand questions gets no more turns than the one who waits with one. Nobody has
// all turns at once either, lest slow questions of one caller keep all others waiting.
type Turns struct {
	mu    sync.Mutex // guards the fields below
	free  int
	most  int // turns that one caller may have at once
	taken map[string]int
	queue Queue[chan struct{}] // each is closed when its turn has come
}

// New returns room for all turns at once, of which one caller may have most.
func New(all, most int) *Turns {
	return &Turns{free: all, most: most, taken: make(map[string]int), queue: NewQueue[chan struct{}]()}
}

// Begin waits for caller's turn. It returns ctx's error if that does not come in time;
// then there is nothing to end.
func (t *Turns) Begin(ctx context.Context, caller string) error {
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

// End gives a turn back.
func (t *Turns) End(caller string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free++
	if t.taken[caller]--; t.taken[caller] == 0 {
		delete(t.taken, caller)
	}
	t.grant()
}

func (t *Turns) join(caller string) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := make(chan struct{})
	t.queue.Join(caller, mine)
	t.grant()
	return mine
}

// withdraw takes back that caller waits, unless its turn has come.
func (t *Turns) withdraw(caller string, mine chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.queue.Withdraw(caller, mine)
}

// grant gives the free turns to those who wait, caller by caller.
func (t *Turns) grant() {
	for t.free > 0 {
		next := slices.IndexFunc(t.queue.Callers(), func(caller string) bool { return t.taken[caller] < t.most })
		if next < 0 {
			return
		}
		caller, one := t.queue.First(next)
		t.free--
		t.taken[caller]++
		close(one)
		t.queue.Take(next)
	}
}
