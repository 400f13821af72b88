package sticky

import (
	"context"
	"sync"
	"time"

	"berth/sticky/binding"
)

// sharedReads are reads of the store that are under way: who wants to know the same waits for that one. The zero value has
// none.
type sharedReads struct {
	mu       sync.Mutex // guards the fields below, and done of each sharedRead
	underWay map[binding.Sum]*sharedRead
}

// sharedRead is one read. It is used again unless somebody waited for it, who may have it still.
type sharedRead struct {
	begun   detached      // what the read knows of whoever began it
	done    chan struct{} // closed with its end; nil: nobody waits for it
	binding Binding       // for those who wait
	err     error
}

var spareReads = sync.Pool{New: func() any { return new(sharedRead) }}

// do has into be what by reads of key, or what a read that was begun before finds. A read does not end with the caller
// who happened to begin it: who only waits may leave, who reads has the store's bounds.
func (f *sharedReads) do(ctx context.Context, key *Key, into *Binding, by *finder) error {
	of := key.Sum()
	one, first := f.join(&of)
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
	defer func() { f.complete(&of, one, into, err) }()
	one.begun.of = ctx
	err = by.readAs(&one.begun, key, &of, into)
	return err
}

func (f *sharedReads) join(of *binding.Sum) (one *sharedRead, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one = f.underWay[*of]; one != nil {
		if one.done == nil {
			one.done = make(chan struct{})
		}
		return one, false
	}
	if f.underWay == nil {
		f.underWay = make(map[binding.Sum]*sharedRead)
	}
	one = spareReads.Get().(*sharedRead)
	f.underWay[*of] = one
	return one, true
}

// complete ends a read that has found a binding, or err.
func (f *sharedReads) complete(of *binding.Sum, one *sharedRead, found *Binding, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.underWay, *of)
	if one.done == nil {
		one.begun.of = nil
		spareReads.Put(one)
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
