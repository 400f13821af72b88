package inbound

import (
	"context"
	"sync"
	"time"

	"berth/internal/fresh"
)

// recordTime bounds what recording may hold an answer up, whatever the store does.
const recordTime = time.Second

// Recording is a context for the store that outlives the client: a client that
// hangs up once its answer was read does not undo the record.
func (x *Call) Recording() (context.Context, context.CancelFunc) {
	r := newRecording(x.Now())
	return r, r.end // short, so that it is inlined, and what ends a context costs no memory
}

var recordings = fresh.New[recording](8)

func newRecording(now time.Time) *recording {
	r := recordings.Next()
	r.until = now.Add(recordTime)
	return r
}

// recording is a context that ends by the clock. It has no timer before somebody asks for its end: a store in
// memory never does.
type recording struct {
	until time.Time

	mu    sync.Mutex // guards the fields below
	timed context.Context
	stop  context.CancelFunc
	over  bool
}

// Deadline implements context.Context.
func (r *recording) Deadline() (time.Time, bool) { return r.until, true }

// Value implements context.Context: there are none.
func (*recording) Value(any) any { return nil }

// Done implements context.Context.
func (r *recording) Done() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timed == nil {
		r.timed, r.stop = context.WithDeadline(context.Background(), r.until)
		if r.over {
			r.stop()
		}
	}
	return r.timed.Done()
}

// Err implements context.Context.
func (r *recording) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.timed != nil:
		return r.timed.Err()
	case r.over:
		return context.Canceled
	case time.Until(r.until) <= 0:
		return context.DeadlineExceeded
	}
	return nil
}

func (r *recording) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	if r.stop != nil {
		r.stop()
	}
}
