package timed

import (
	"context"
	"sync"
	"time"
)

// Context ends with its parent, by the clock, or with End. Its parent does not know of it before somebody waits for its end.
type Context struct {
	context.Context // the parent
	until           time.Time
	parents         bool  // the parent ends then by itself
	cause           error // of its own end by the clock

	mu    sync.Mutex // guards the fields below
	timed context.Context
	stop  context.CancelFunc
	over  bool
}

// To returns a context that ends with ctx, and then at the latest. cause is why, by the clock; nil: context.DeadlineExceeded.
func To(ctx context.Context, until time.Time, cause error) *Context {
	b := new(Context)
	b.Begin(ctx, until, cause)
	return b
}

// Begin has b, which is zero, be what To returns.
func (b *Context) Begin(ctx context.Context, until time.Time, cause error) {
	b.Context, b.until, b.cause = ctx, until, cause
	if earlier, ok := ctx.Deadline(); ok && earlier.Before(until) {
		b.until, b.parents, b.cause = earlier, true, nil
	}
}

// Within is To after so much time from now on, as context.WithTimeout.
func Within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	b := To(ctx, time.Now().Add(d), nil)
	return b, b.End
}

// Deadline implements context.Context.
func (b *Context) Deadline() (time.Time, bool) { return b.until, true }

// Done implements context.Context.
func (b *Context) Done() <-chan struct{} { return b.asked(true).Done() }

// Err implements context.Context.
func (b *Context) Err() error { return b.asked(false).Err() }

// Value implements context.Context.
func (b *Context) Value(key any) any {
	if key != causeKey {
		return b.Context.Value(key)
	}
	return b.asked(false).Value(key)
}

// causeKey is by which package context finds what has ended a context: it alone has to do with that.
var causeKey = func() any {
	var p probe
	_ = context.Cause(&p)
	return p.key
}()

// probe is a context that notes what it is asked.
type probe struct {
	context.Context
	key any
}

func (p *probe) Value(key any) any {
	p.key = key
	return nil
}

func (*probe) Err() error { return context.Canceled }

// asked is who knows of the end: the parent alone, as long as nobody waits for it and it has not come.
func (b *Context) asked(waits bool) context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timed != nil {
		return b.timed
	}
	if !waits && !b.over && time.Now().Before(b.until) {
		return b.Context
	}
	if b.parents {
		b.timed, b.stop = context.WithCancel(b.Context)
	} else {
		b.timed, b.stop = context.WithDeadlineCause(b.Context, b.until, b.cause)
	}
	if b.over {
		b.stop()
	}
	return b.timed
}

// End ends it.
func (b *Context) End() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	if b.stop != nil {
		b.stop()
	}
}
