package client

// sight is how the lookout sees a connection during an exchange. What is awaited once is seen once. What is awaited again stands, and
// is seen always from then on, so that the kernel is not told for each event; but neither does it say again what it has said.
type sight uint8

const (
	unseen sight = iota
	seenOnce
	seenAlways
)

// awaitedAgain is how the lookout is to see a connection that is awaited.
func (s sight) awaitedAgain() sight { return min(s+1, seenAlways) }

// willBeSeen has the lookout see what comes from now on, as it did not before. It reports false if that cannot be, or something has
// come that was not heard. It may be called when the exchange is over already.
func (c *conn) willBeSeen(before sight) bool {
	switch before {
	case unseen:
		return arrivals.Again(c.net.raw, c.sighting)
	case seenOnce:
		return arrivals.Always(c.net.raw, c.sighting)
	}
	return !c.missed.Load()
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
