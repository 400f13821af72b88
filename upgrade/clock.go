package upgrade

import (
	"context"
	"sync"
	"time"

	"berth/internal/storage"
	"berth/upgrade/task"
)

// clock tells the time by the store's clock: the only one that all berths of a deployment
// agree on. That of this machine may be minutes off; only how fast it goes is believed.
type clock struct {
	store storage.Engine

	mu   sync.Mutex // guards the fields below
	told time.Time  // what the store said last
	when time.Time  // by this process's clock; zero: the store was not asked yet
}

// refresh asks the store for the time.
func (c *clock) refresh(ctx context.Context) error {
	before := time.Now()
	told, err := c.store.Now(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told, c.when = told, before.Add(time.Since(before)/2)
	return nil
}

// known sees to it that the store was asked once.
func (c *clock) known(ctx context.Context) error {
	c.mu.Lock()
	asked := !c.when.IsZero()
	c.mu.Unlock()
	if asked {
		return nil
	}
	return c.refresh(ctx)
}

// now is the time as records have it. Until the store was asked it is this machine's.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if !c.when.IsZero() {
		now = c.told.Add(now.Sub(c.when))
	}
	return now.UTC().Truncate(time.Millisecond)
}

// until is how long it is until a time that records have.
func (c *clock) until(t time.Time) time.Duration { return t.Sub(c.now()) }

// here is a time that records have, as the timers of this process count.
func (c *clock) here(t time.Time) time.Time { return time.Now().Add(c.until(t)) }

// left is how long the task is to live.
func (l *Ledger) left(t *task.Task) time.Duration { return l.clock.until(t.Expires()) }

// Expires returns when the task may be forgotten, as the timers of this process count.
func (l *Ledger) Expires(t task.Task) time.Time { return l.clock.here(t.Expires()) }
