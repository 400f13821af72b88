package client

import (
	"errors"
	"os"
	"time"
)

// fresh is how long after an exchange a connection is used again without a look at it, which is a
// system call.
const fresh = time.Millisecond

// rests reports whether an idle connection can be used: it is not too old, the server has not closed it, and has
// said nothing that nobody asked for.
func (c *conn) rests(now time.Time) bool {
	rested := now.Sub(c.since)
	switch {
	case rested >= idleTime:
		return false
	case c.net.raw == nil:
		return c.looksAtRest()
	case c.secure != nil: // TLS may have read more than it gave
		if c.net.look = impatient; rested < fresh {
			c.net.look = blind
		}
		err := c.in.WaitReadable()
		c.net.look = patient
		return errors.Is(err, os.ErrDeadlineExceeded) && c.in.Buffered() == 0
	case rested < fresh:
		return true
	}
	_, err := c.net.readNow(c.one[:])
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// looksAtRest is for connections in memory.
func (c *conn) looksAtRest() bool {
	_ = c.net.SetReadDeadline(past)
	err := c.in.WaitReadable()
	_ = c.net.SetReadDeadline(time.Time{})
	return errors.Is(err, os.ErrDeadlineExceeded)
}
