package bridge

import (
	"context"
	"sync"
	"time"

	"berth/internal/relay"
)

// clock tells the time by the store that berths share, for what one berth writes and another judges: their own clocks may be minutes off, and jump.
// How fast the own one goes is believed.
type clock struct {
	store relay.Store      // nil: there is one berth
	own   func() time.Time // this machine's

	mu    sync.Mutex // guards the fields below
	known bool       // the store has told it once
	asked time.Time  // when that was asked last
	told  time.Time  // until the store has told it, this machine's as the clock was made
	when  time.Time  // that was, by own
}

const (
	clockFor  = time.Minute            // is believed what the store has told
	clockTime = 250 * time.Millisecond // bounds what asking it may hold a round up
)

func newClock(store relay.Store) *clock {
	now := time.Now()
	return &clock{store: store, own: time.Now, told: now, when: now}
}

func (c *clock) now(ctx context.Context) time.Time {
	if c.isDue() {
		c.ask(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.told.Add(c.own().Sub(c.when))
}

// isDue reports whether the caller is to ask the store.
func (c *clock) isDue() bool {
	if c.store == nil || !c.store.Shared() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.own()
	if c.known && now.Sub(c.asked) < clockFor {
		return false
	}
	c.asked = now
	return true
}

func (c *clock) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), clockTime)
	defer cancel()
	before := c.own()
	told, err := c.store.Now(ctx)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known, c.told, c.when = true, told, before.Add(c.own().Sub(before)/2)
}
