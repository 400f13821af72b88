package upgrade

import (
	"context"
	"sync/atomic"
	"time"
)

// lastWords bounds how long the store may take to hear how calls ended that were cut.
const lastWords = 3 * time.Second

// StopCreating has Create refuse from now on.
func (t *Tasks) StopCreating() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.draining = true
}

func (t *Tasks) isDraining() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.draining
}

// Drain takes on no new tasks and waits for the calls that are held, until ctx ends. What
// is left then is cut: it fails, durably, or is left to another berth that can go on with
// it. Call it while Run goes on.
func (t *Tasks) Drain(ctx context.Context) {
	t.StopCreating()
	if !t.await(ctx) {
		t.cut()
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancel()
		if !t.await(limit) {
			t.log.Error("the ends of held calls could not be stored", "calls", t.Held())
		}
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	t.resign(limit)
}

// await waits until nothing is held, and reports whether that came before the end of ctx.
func (t *Tasks) await(ctx context.Context) bool {
	ended := make(chan struct{})
	go func() {
		t.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-ctx.Done():
		return false
	}
}

// cut ends all calls that are held.
func (t *Tasks) cut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, h := range t.held {
		h.end(errShutdown)
	}
}

// maxUnstored bounds the outcomes in memory that the store has not taken, in bytes.
const maxUnstored = 256 << 20

// unstoredBytes are counted while they wait.
type unstoredBytes struct{ n atomic.Int64 }

// take counts n more bytes, and reports whether there is room for them.
func (u *unstoredBytes) take(n int64) bool {
	if u.n.Add(n) > maxUnstored {
		u.n.Add(-n)
		return false
	}
	return true
}

func (u *unstoredBytes) give(n int64) { u.n.Add(-n) }
