package ledger

import (
	"context"
	"sync"
	"time"

	"berth/internal/storage"
)

// Clock tells the time by the store's clock: the only one that all berths of a deployment
// agree on. That of this machine may be minutes off; only how fast it goes is believed.
type Clock struct {
	store storage.Engine

	mu   sync.Mutex // guards the fields below
	told time.Time  // what the store said last
	when time.Time  // by this process's clock; zero: the store was not asked yet
}

// Refresh asks the store for the time.
func (c *Clock) Refresh(ctx context.Context) error {
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

// IsKnown reports whether the store was asked once.
func (c *Clock) IsKnown() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.when.IsZero()
}

// Known sees to it that it was.
func (c *Clock) Known(ctx context.Context) error {
	if c.IsKnown() {
		return nil
	}
	return c.Refresh(ctx)
}

// Now is the time as records have it. Until the store was asked it is this machine's.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if !c.when.IsZero() {
		now = c.told.Add(now.Sub(c.when))
	}
	return now.UTC().Truncate(time.Millisecond)
}

// until is how long it is until a time that records have.
func (c *Clock) until(t time.Time) time.Duration { return time.Until(c.Here(t)) }

// Here is a time that records have, as the timers of this process count.
func (c *Clock) Here(t time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.when.IsZero() {
		now := time.Now()
		return now.Add(t.Sub(now))
	}
	return c.when.Add(t.Sub(c.told))
}
