package peers

import (
	"context"
	"slices"
	"sync"

	"berth/upgrade/ledger"
	"berth/upgrade/runner"
)

// told are the things that this process has been told of, and has not seen to.
type told[T comparable] struct {
	mu  sync.Mutex // guards the field below
	all map[T]bool

	some chan struct{} // holds one while there may be some
}

func newTold[T comparable]() told[T] {
	return told[T]{all: map[T]bool{}, some: make(chan struct{}, 1)}
}

// add does not wait.
func (l *told[T]) add(one T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all[one] = true
	ledger.Signal(l.some)
}

// take returns them, in no order: so berths that are told of the same begin with different ones.
func (l *told[T]) take() (all []T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for one := range l.all {
		all = append(all, one)
	}
	clear(l.all)
	return all
}

// each sees to what comes, several at a time, until ctx ends.
func (l *told[T]) each(ctx context.Context, see func(one T)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.some:
		}
		runner.SomeAtOnce(slices.Values(l.take()), see)
	}
}
