package server

import (
	"net"
	"time"

	"berth/internal/h1/buffer"
	"berth/internal/h1/pace"
)

// send writes to the client within the time that at bounds.
func (c *conn) send(parts *net.Buffers, at time.Time) error {
	if len(*parts) == 1 {
		return c.write((*parts)[0], at)
	}
	if tcp, ok := buffer.Plain(c.net).(*net.TCPConn); ok && c.in.Raw() != nil {
		return pace.WriteParts(tcp, c.in.Raw(), parts, at, c.limited)
	}
	c.writing.until(at)
	_, err := parts.WriteTo(c.net)
	return err
}

// write is send of one part. Most of them the kernel takes at once, so that it sets a deadline where it has to wait; one that was set for
// another must not be over. A client that takes what is sent slowly is given its time anew.
func (c *conn) write(b []byte, at time.Time) error {
	kernel := c.in.Raw()
	if kernel == nil || !c.writing.at.IsZero() {
		c.writing.until(at)
	}
	if kernel == nil {
		_, err := c.net.Write(b)
		return err
	}
	n, err := c.unsent.Write(kernel, b)
	if err == nil && n < len(b) {
		_, err = c.unsent.Wait(kernel, at, c.limited)
	}
	return err
}

// limit has writes wait until at.
func (c *conn) limit(at time.Time) bool {
	c.writing.until(at)
	return true
}
