package sticky

import (
	"context"
	"sync"
	"time"

	"berth/sticky/binding"
)

// flights are reads of the store that are under way: who wants to know the same waits for that one. The zero value has
// none.
type flights struct {
	mu     sync.Mutex // guards the fields below, and done of each flight
	flying map[binding.Sum]*flight
}

// flight is one read. It is used again unless somebody waited for it, who may have it still.
type flight struct {
	begun   detached      // what the read knows of whoever began it
	done    chan struct{} // closed with its end; nil: nobody waits for it
	binding Binding       // for those who wait
	err     error
}

var spareFlights = sync.Pool{New: func() any { return new(flight) }}

// do has into be what by reads of key, or what a read that was begun before finds. A read does not end with the caller
// who happened to begin it: who only waits may leave, who reads has the store's bounds.
func (f *flights) do(ctx context.Context, key *Key, into *Binding, by *finder) error {
	of := key.Sum()
	one, first := f.board(&of)
	if !first {
		select {
		case <-one.done:
			if one.err == nil {
				*into = one.binding
			}
			return one.err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	err := ErrUnknown // should the read panic
	defer func() { f.land(&of, one, into, err) }()
	one.begun.of = ctx
	err = by.readAs(&one.begun, key, &of, into)
	return err
}

func (f *flights) board(of *binding.Sum) (one *flight, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one = f.flying[*of]; one != nil {
		if one.done == nil {
			one.done = make(chan struct{})
		}
		return one, false
	}
	if f.flying == nil {
		f.flying = make(map[binding.Sum]*flight)
	}
	one = spareFlights.Get().(*flight)
	f.flying[*of] = one
	return one, true
}

// land ends a flight that has found a binding, or err.
func (f *flights) land(of *binding.Sum, one *flight, found *Binding, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.flying, *of)
	if one.done == nil {
		one.begun.of = nil
		spareFlights.Put(one)
		return
	}
	if one.err = err; err == nil {
		one.binding = *found
	}
	close(one.done)
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
