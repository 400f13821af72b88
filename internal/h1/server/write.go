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
}

// send writes to the client within the time that at bounds.
func (c *conn) send(parts *net.Buffers, at time.Time) error {
	c.writing.until(at)
	if len(*parts) == 1 {
		return c.write((*parts)[0])
	}
	if tcp, ok := buffer.Plain(c.net).(*net.TCPConn); ok {
		_, err := parts.WriteTo(tcp)
		return err
	}
	_, err := parts.WriteTo(c.net)
	return err
}

func (c *conn) write(b []byte) error {
	kernel, w := c.in.Raw(), &c.unsent
	if kernel == nil {
		_, err := c.net.Write(b)
		return err
	}
	if w.attempt == nil {
		w.attempt = w.writeOn
	}
	w.left, w.err = b, nil
	err := kernel.Write(w.attempt)
	if w.left = nil; err == nil {
		err = w.err
	}
	return err
}
