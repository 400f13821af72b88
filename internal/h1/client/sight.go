package client

import "berth/internal/h1/lookout"

// sight is how the lookout sees a connection during an exchange. What is awaited once is seen once. What is awaited again stands, and
// is seen always from then on, so that the kernel is not told for each event; but neither does it say again what it has said.
type sight uint8

const (
	unseen sight = iota
	seenOnce
	seenAlways
)

// willBeSeen has the lookout see what comes from now on. It reports false if that cannot be.
func (c *conn) willBeSeen() (can bool) {
	switch c.sight {
	case unseen:
		can = arrivals.Again(c.net.raw, c.sighting, lookout.Arriving)
	case seenOnce:
		can = arrivals.Always(c.net.raw, c.sighting)
	case seenAlways:
		return true
	}
	if can {
		c.sight++
	}
	return can
}

// hasMore reports whether there is something to read, of which the lookout may not tell any more.
func (c *conn) hasMore() bool {
	switch {
	case c.in.Buffered() > 0 || c.sighting.HasLeft():
		return true
	case c.missed.Swap(false) || c.in.Filled():
		return c.in.Look()
	}
	return false
}

// lookAway ends what the exchange has seen; good: the connection is used again.
func (c *conn) lookAway(good bool) {
	if c.sight == seenAlways && good {
		arrivals.Away(c.net.raw, c.sighting)
	}
	c.sight = unseen
	c.missed.Store(false)
}
