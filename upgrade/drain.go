package upgrade

import (
	"context"
	"sync/atomic"
	"time"
)

// lastWords bounds how long the store may take to hear how calls ended that were cut.
const lastWords = 3 * time.Second

// awaitEvery is how often it is seen whether all held calls have ended.
const awaitEvery = 20 * time.Millisecond

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
	look := time.NewTicker(awaitEvery)
	defer look.Stop()
	for t.Held() > 0 {
		select {
		case <-look.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// cut ends all calls that are held.
func (t *Tasks) cut() {
	for _, h := range t.all() {
		if h.canBeLeft() {
			h.end(errLeft)
		} else {
			h.end(errShutdown)
		}
	}
}

// canBeLeft reports whether another process, or this one's successor, can go on with the
// call: it was not sent, or became a task of the upstream's; its client has the handle, and what authorises it is kept.
func (h *Held) canBeLeft() bool {
	task := h.Task()
	pool := h.t.pools[task.Pool]
	return h.t.store.Durable() && h.waits() && task.Handed &&
		(h.call.Bare || h.t.keys.Given() || pool != nil && pool.OwnCredentials)
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
