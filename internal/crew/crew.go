// Package crew has functions run by goroutines that have run others before. A goroutine begins with a small stack, which is copied each
// time that it doubles, frame by frame: what is short and goes deep, and is done again and again, costs less where the stack
// has grown already.
//
// To run a function allocates nothing, and takes a lock and the wake-up of who is idle. Nobody waits for room: where nobody is idle, a
// goroutine begins. Of those that have nothing to do some stay.
package crew

import "sync"

// Crew runs functions. The zero value is ready. Its method may be called concurrently.
type Crew struct {
	mu   sync.Mutex // guards the field below
	idle []*hand
}

// hand is one of its goroutines.
type hand struct {
	next chan func() // has room for one
}

// most is how many stay that have nothing to do.
const most = 64

// Run has f run in a goroutine that is not the caller's. It waits for nothing.
func (c *Crew) Run(f func()) {
	if h := c.rouse(); h != nil {
		h.next <- f
		return
	}
	go c.work(f)
}

// rouse takes who has been idle for the least time; nil: nobody is.
func (c *Crew) rouse() *hand {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := len(c.idle) - 1
	if last < 0 {
		return nil
	}
	h := c.idle[last]
	c.idle = c.idle[:last]
	return h
}

// work runs f, and what comes after it.
func (c *Crew) work(f func()) {
	h := &hand{next: make(chan func(), 1)}
	for f(); c.rest(h); f() {
		f = <-h.next
	}
}

// rest has h be idle. It reports false if so many are that h need not stay.
func (c *Crew) rest(h *hand) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.idle) == most {
		return false
	}
	c.idle = append(c.idle, h)
	return true
}
