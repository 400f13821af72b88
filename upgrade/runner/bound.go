package runner

import (
	"context"
	"sync"
	"time"

	"berth/upgrade/task"
)

// bound is the context of a round: it ends with the call, by the clock, or with the round. It has no timer, and the call does not
// know of it, before somebody asks for its end: who sends what is answered at once does not.
type bound struct {
	context.Context // the call's
	until           time.Time

	mu    sync.Mutex // guards the fields below
	timed context.Context
	stop  context.CancelFunc
	over  bool
}

// Deadline implements context.Context.
func (b *bound) Deadline() (time.Time, bool) { return b.until, true }

// Done implements context.Context.
func (b *bound) Done() <-chan struct{} { return b.asked(true).Done() }

// Err implements context.Context.
func (b *bound) Err() error { return b.asked(false).Err() }

// Value implements context.Context. context.Cause finds by it what ended the round.
func (b *bound) Value(key any) any { return b.asked(false).Value(key) }

// asked is who knows of the end: the call alone, as long as nobody waits for it and it has not come.
func (b *bound) asked(waits bool) context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timed != nil {
		return b.timed
	}
	if !waits && !b.over && time.Now().Before(b.until) {
		return b.Context
	}
	b.timed, b.stop = context.WithDeadlineCause(b.Context, b.until, task.ErrTimeout)
	if b.over {
		b.stop()
	}
	return b.timed
}

// end ends it with the round.
func (b *bound) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	if b.stop != nil {
		b.stop()
	}
}
