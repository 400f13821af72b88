package server

import (
	"net"
	"time"

	"berth/internal/h1/buffer"
)

// unsent is one write to the kernel's connection, beneath whoever wraps it.
type unsent struct {
	left    []byte
	err     error
	attempt func(fd uintptr) bool // writeOn, kept since making it allocates
	waits   bool                  // for room, where there is none
}

// send writes to the client within the time that at bounds.
func (c *conn) send(parts *net.Buffers, at time.Time) error {
	if len(*parts) == 1 {
		return c.write((*parts)[0], at)
	}
	c.writing.until(at)
	if tcp, ok := buffer.Plain(c.net).(*net.TCPConn); ok {
		_, err := parts.WriteTo(tcp)
		return err
	}
	_, err := parts.WriteTo(c.net)
	return err
}

// write is send of one part. Most of them the kernel takes at once, so that it sets a deadline where it has to wait; one that was set for
// another must not be over.
func (c *conn) write(b []byte, at time.Time) error {
	kernel, w := c.in.Raw(), &c.unsent
	if kernel == nil || !c.writing.at.IsZero() {
		c.writing.until(at)
	}
	if kernel == nil {
		_, err := c.net.Write(b)
		return err
	}
	if w.attempt == nil {
		w.attempt = w.writeOn
	}
	w.left, w.err, w.waits = b, nil, false
	err := kernel.Write(w.attempt)
	if err == nil && w.err == nil && len(w.left) > 0 {
		c.writing.until(at)
		w.waits = true
		err = kernel.Write(w.attempt)
	}
	if w.left = nil; err == nil {
		err = w.err
	}
	return err
}
