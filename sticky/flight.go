package sticky

import (
	"context"
	"sync"
	"time"
)

// flights are reads of the store that are under way: who wants to know the same waits for that one. The zero value has
// none.
type flights struct {
	mu     sync.Mutex // guards the fields below, and done of each flight
	flying map[Key]*flight
}

// flight is one read.
type flight struct {
	begun   detached      // what the read knows of whoever began it
	done    chan struct{} // closed with its end; nil: nobody waits for it
	binding Binding
	err     error
}

// do returns what read finds of key, or what a read that was begun before finds. A read does not end with the caller
// who happened to begin it: who only waits may leave, who reads has the store's bounds.
func (f *flights) do(ctx context.Context, key Key, read func(ctx context.Context, key Key) (Binding, error)) (Binding, error) {
	one, first := f.board(key)
	if !first {
		select {
		case <-one.done:
			return one.binding, one.err
		case <-ctx.Done():
			return Binding{}, context.Cause(ctx)
		}
	}
	defer f.land(key, one)
	one.begun.of = ctx
	one.binding, one.err = read(&one.begun, key)
	return one.binding, one.err
}

func (f *flights) board(key Key) (one *flight, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one = f.flying[key]; one != nil {
		if one.done == nil {
			one.done = make(chan struct{})
		}
		return one, false
	}
	if f.flying == nil {
		f.flying = make(map[Key]*flight)
	}
	one = &flight{err: ErrUnknown} // should the read panic
	f.flying[key] = one
	return one, true
}

func (f *flights) land(key Key, one *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.flying, key)
	if one.done != nil {
		close(one.done)
	}
}

// detached is a context that does not end, with the values of one that may. Unlike context.WithoutCancel's it is
// looked at without an allocation.
type detached struct{ of context.Context }

// Deadline implements context.Context.
func (*detached) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done implements context.Context.
func (*detached) Done() <-chan struct{} { return nil }

// Err implements context.Context.
func (*detached) Err() error { return nil }

// Value implements context.Context.
func (d *detached) Value(key any) any { return d.of.Value(key) }
