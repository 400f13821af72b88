package client

import (
	"errors"
	"os"
	"time"
)

// errRestless: nothing was written to a connection, for the server has ended it, or said something that nobody asked for.
var errRestless = errors.New("http1: the connection did not rest")

// rests reports whether an idle connection can be used: it is not too old, the server has not ended it, and has
// said nothing that nobody asked for. The look is a system call, and worth it however short the rest was: what came
// behind one answer would be the next one's. At a plain connection of the kernel it is taken right before the write.
func (c *conn) rests(now time.Time) bool {
	switch {
	case now.Sub(c.since) >= idleTime:
		return false
	case c.net.raw == nil:
		return c.looksAtRest()
	case c.secure != nil: // TLS may have read more than it gave
		c.net.look = impatient
		err := c.in.WaitReadable()
		c.net.look = patient
		return errors.Is(err, os.ErrDeadlineExceeded) && c.in.Buffered() == 0
	}
	return true
}

// looksAtRest is for connections in memory.
func (c *conn) looksAtRest() bool {
	_ = c.net.SetReadDeadline(past)
	err := c.in.WaitReadable()
	_ = c.net.SetReadDeadline(time.Time{})
	return errors.Is(err, os.ErrDeadlineExceeded)
}
