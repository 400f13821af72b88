package pace

import (
	"net"
	"sync"
	"syscall"
	"time"

	"berth/internal/h1/buffer"
)

// Listener returns inner, whose connections give their peers time as [Unsent] does: for what writes to them and cannot write on after
// it was late, as TLS.
func Listener(inner net.Listener) net.Listener { return listener{inner} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: inner}, nil
}

// conn is written by one goroutine at a time.
type conn struct {
	net.Conn

	raw    syscall.RawConn // nil: there is none, or it is not known yet
	unsent Unsent
	waited time.Time // of the write that is under way

	mu   sync.Mutex // guards the fields below, and the deadline of Conn
	at   time.Time
	span time.Duration // how long that was as it was set
}

// PlainConn is what those who read without a buffer look for by its name.
func (c *conn) PlainConn() net.Conn { return c.Conn }

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.span = t, 0
	if !t.IsZero() {
		c.span = time.Until(t)
	}
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	if err := c.SetWriteDeadline(t); err != nil {
		return err
	}
	return c.Conn.SetReadDeadline(t)
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	if c.raw == nil {
		if plain := buffer.Plain(c.Conn); plain != nil {
			c.raw, _ = plain.SyscallConn()
		}
	}
	if c.raw == nil {
		return c.Conn.Write(b)
	}
	c.mu.Lock()
	at, span := c.at, c.span
	c.mu.Unlock()
	n, err := c.unsent.Write(c.raw, b)
	if err == nil && n < len(b) {
		if c.waited = at; span > 0 {
			at = time.Now().Add(span) // from when it has to wait on
		}
		var more int
		more, err = c.unsent.Wait(c.raw, at, c.limit)
		n += more
	}
	if err != nil {
		return n, &net.OpError{Op: "write", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
	}
	return n, nil
}

// limit gives a write more time, unless somebody has set another one meanwhile: then that holds.
func (c *conn) limit(at time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.at.Equal(c.waited) {
		return c.at.IsZero() || time.Until(c.at) > 0
	}
	c.at, c.waited = at, at
	return c.Conn.SetWriteDeadline(at) == nil
}
