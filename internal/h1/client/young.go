package client

import (
	"sync"
	"time"
)

// unwatched is how long an exchange goes on before somebody watches whether its context has
// ended, at least: most are over by then, and cost no watch.
const unwatched = 5 * time.Millisecond

// young are the exchanges that nobody watches yet. One timer for all wakes those that last.
type young struct {
	mu          sync.Mutex // guards the fields below, and the places of connections in the list
	first, last *conn      // the one that has begun first
	timer       *time.Timer
	ticking     bool // the timer runs
}

// place is that of a connection in the list.
type place struct {
	before, after *conn
	listed        bool
	woken         bool // its read deadline was set, to wake it
}

// join has c woken if its exchange lasts.
func (y *young) join(c *conn) {
	y.mu.Lock()
	defer y.mu.Unlock()
	c.place = place{before: y.last, listed: true}
	if y.last == nil {
		y.first = c
	} else {
		y.last.place.after = c
	}
	if y.last = c; !y.ticking {
		y.tick(unwatched)
	}
}

// tick has the next look after d. The caller holds mu.
func (y *young) tick(d time.Duration) {
	if y.ticking = true; y.timer == nil {
		y.timer = time.AfterFunc(d, y.wake)
		return
	}
	y.timer.Reset(d)
}

// leave reports whether c was woken.
func (y *young) leave(c *conn) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	if c.place.listed {
		y.remove(c)
	}
	return c.place.woken
}

// remove takes c out. The caller holds mu.
func (y *young) remove(c *conn) {
	p := &c.place
	if p.before == nil {
		y.first = p.after
	} else {
		p.before.place.after = p.after
	}
	if p.after == nil {
		y.last = p.before
	} else {
		p.after.place.before = p.before
	}
	*p = place{}
}

// wake has the goroutines of exchanges that have lasted go on by themselves, from wherever they read.
func (y *young) wake() {
	now := time.Now()
	y.mu.Lock()
	defer y.mu.Unlock()
	for c := y.first; c != nil && now.Sub(c.terms.begun) >= unwatched; c = y.first {
		y.remove(c)
		c.place.woken = true
		_ = c.net.SetReadDeadline(past)
	}
	if y.ticking = false; y.first != nil {
		y.tick(unwatched - now.Sub(y.first.terms.begun))
	}
}

// past is a deadline that is over.
var past = time.Unix(1, 0)
