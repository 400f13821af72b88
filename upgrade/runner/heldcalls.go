package runner

import (
	"context"
	"sync"
	"sync/atomic"

	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// HeldCalls knows which tasks this process has to do with: whose calls it holds, and which
// of them are claimed by somebody who decides whether it shall. A task has one claim at a
// time, and none while its call is held.
type HeldCalls struct {
	mu      sync.Mutex // guards the fields below
	held    map[string]*Held
	claimed map[string]chan struct{} // closed with the claim; nil: nobody waits for that
	live    map[string]int           // by caller: calls that are held, and tasks that are being made
	cut     bool                     // what is still taken on ends at once

	closing atomic.Bool // nothing more is taken on
}

func newHeldCalls() *HeldCalls {
	return &HeldCalls{held: map[string]*Held{}, claimed: map[string]chan struct{}{}, live: map[string]int{}}
}

// perCaller is the share of the calls that a process may hold, as a divisor, that one caller
// may have.
const perCaller = 2

// Admit claims a new task of a caller, unless this process has as many as most already, or
// the caller half of them; 0 is any number.
func (c *HeldCalls) Admit(id, caller string, most int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.room(caller, most); err != nil {
		return err
	}
	c.claimed[id] = nil
	c.live[caller]++
	return nil
}

// Room is Admit that claims nothing.
func (c *HeldCalls) Room(caller string, most int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.room(caller, most)
}

// room is Room for who has the lock.
func (c *HeldCalls) room(caller string, most int) error {
	switch {
	case c.closing.Load():
		return ledger.ErrDraining
	case most > 0 && len(c.held)+len(c.claimed) >= most:
		return &task.Refusal{Err: ledger.ErrTooMany, Reason: "live_per_process"}
	case most > 0 && c.live[caller] >= (most+perCaller-1)/perCaller:
		return &task.Refusal{Err: ledger.ErrTooMany, Reason: "live_per_caller"}
	}
	return nil
}

// Unadmit gives up the claim of a task that was admitted, and takes it off those that its caller has: it is held by now,
// and counted so, or was not made.
func (c *HeldCalls) Unadmit(id, caller string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unclaim(id)
	c.give(caller)
}

// give takes back one of the calls that a caller has. The caller has the lock.
func (c *HeldCalls) give(caller string) {
	if left := c.live[caller] - 1; left > 0 {
		c.live[caller] = left
	} else {
		delete(c.live, caller)
	}
}

// Claim claims a task once nobody else has, and once this process has let go of its call.
// Errors: ErrDraining, or the cause of ctx's end.
func (c *HeldCalls) Claim(ctx context.Context, id string) (release func(), err error) {
	for {
		busy, err := c.TryClaim(id)
		switch {
		case err != nil:
			return nil, err
		case busy == nil:
			return func() { c.Unclaim(id) }, nil
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// TryClaim claims a task, or returns a channel that is closed when another attempt is
// worth while.
func (c *HeldCalls) TryClaim(id string) (busy <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing.Load() {
		return nil, ledger.ErrDraining
	}
	if h := c.held[id]; h != nil {
		return h.over(), nil
	}
	if _, claimed := c.claimed[id]; claimed {
		return c.unclaimed(id), nil
	}
	c.claimed[id] = nil
	return nil, nil
}

// Unclaim gives a claim up.
func (c *HeldCalls) Unclaim(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unclaim(id)
}

// unclaim is Unclaim for who has the lock.
func (c *HeldCalls) unclaim(id string) {
	if over := c.claimed[id]; over != nil {
		close(over)
	}
	delete(c.claimed, id)
}

// unclaimed returns what is closed with the claim of a task. The caller has the lock.
func (c *HeldCalls) unclaimed(id string) <-chan struct{} {
	if c.claimed[id] == nil {
		c.claimed[id] = make(chan struct{})
	}
	return c.claimed[id]
}

// hold takes in the call of a task that the caller has claimed.
func (c *HeldCalls) hold(h *Held) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held[h.ID] = h
	c.live[h.caller]++
	if c.cut {
		h.end(task.ErrShutdown)
	}
}

// letGo lets go of the call of a task. done is closed once all of it is over; nil: nobody waits for that.
func (c *HeldCalls) letGo(id string) (done chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.held[id]
	if h == nil {
		return nil
	}
	delete(c.held, id)
	c.give(h.caller)
	return h.done
}

// over is closed when nothing is held any more. The caller has the lock of the table, in which h is.
func (h *Held) over() <-chan struct{} {
	if h.done == nil {
		h.done = make(chan struct{})
	}
	return h.done
}

// Get returns the call of a task, nil if it is not held here.
func (c *HeldCalls) Get(id string) *Held {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held[id]
}

// Has reports whether this process holds the call of a task, or somebody decides whether it shall.
func (c *HeldCalls) Has(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, claimed := c.claimed[id]
	return claimed || c.held[id] != nil
}

// Size counts the calls that are held.
func (c *HeldCalls) Size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.held)
}

// All are the calls that are held.
func (c *HeldCalls) All() []*Held {
	c.mu.Lock()
	defer c.mu.Unlock()
	held := make([]*Held, 0, len(c.held))
	for _, h := range c.held {
		held = append(held, h)
	}
	return held
}

// Close has nothing more be taken on.
func (c *HeldCalls) Close() { c.closing.Store(true) }

// Closed reports whether nothing more is taken on.
func (c *HeldCalls) Closed() bool { return c.closing.Load() }

// CutAll ends all calls that are held, and those that are about to be.
func (c *HeldCalls) CutAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
	for _, h := range c.held {
		h.end(task.ErrShutdown)
	}
}

// Empty waits until nothing is held or claimed, and reports whether that came before the
// end of ctx.
func (c *HeldCalls) Empty(ctx context.Context) bool {
	for {
		busy := c.busy()
		if busy == nil {
			return true
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return false
		}
	}
}

// busy returns a channel that is closed when one of the tasks is let go of; nil if there
// is none.
func (c *HeldCalls) busy() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.held {
		return h.over()
	}
	for id := range c.claimed {
		return c.unclaimed(id)
	}
	return nil
}
