package storage

import (
	"context"
	"sync"
	"time"
)

// bounded is a context that ends with its time and never before. It is used again once it was let go in time, which
// saves each operation a timer, and what context makes for one. So it is for callees that keep nothing of it.
type bounded struct {
	context.Context // none that ends, and without values
	end             time.Time
	timer           *time.Timer
	done            chan struct{}
}

var bounds = sync.Pool{New: func() any {
	b := &bounded{Context: context.Background(), done: make(chan struct{})}
	b.timer = time.AfterFunc(time.Hour, func() { close(b.done) })
	b.timer.Stop()
	return b
}}

// within returns a context for d. It is to be let go.
func within(d time.Duration) *bounded {
	b := bounds.Get().(*bounded)
	b.end = time.Now().Add(d)
	b.timer.Reset(d)
	return b
}

// letGo ends the use of b.
func (b *bounded) letGo() {
	if b.timer.Stop() {
		bounds.Put(b)
	}
}

// Deadline implements context.Context.
func (b *bounded) Deadline() (time.Time, bool) { return b.end, true }

// Done implements context.Context.
func (b *bounded) Done() <-chan struct{} { return b.done }

// Err implements context.Context.
func (b *bounded) Err() error {
	select {
	case <-b.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
