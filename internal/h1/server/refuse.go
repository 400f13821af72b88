package server

import (
	"errors"
	"io"
	"net"
	"strconv"
	"time"

	"berth/internal/h1/head"
	"berth/internal/wire"
)

const (
	// refusalTime is what a client has to take an answer that no handler gives.
	refusalTime = 5 * time.Second
	// lingering is how long a client has to read an answer before what it still sends resets the
	// connection, and the answer with it (RFC 9112, 9.6).
	lingering = 500 * time.Millisecond
)

// refuse answers a head that is none. Who has hung up, or broken off, is not answered.
func (c *conn) refuse(err error) {
	var status int
	var malformed head.Malformed
	switch {
	case errors.Is(err, head.ErrTooLong):
		status = wire.StatusRequestHeaderFieldsTooLarge
	case errors.As(err, &malformed) || errors.Is(err, io.ErrUnexpectedEOF):
		status = wire.StatusBadRequest
	default:
		return
	}
	c.server.options.Logger.Debug("a request was refused", "peer", c.remote, "error", err)
	if c.server.options.Refused != nil {
		c.server.options.Refused(c.remote, status, err)
	}
	line := strconv.Itoa(status) + " " + wire.Phrase(status)
	text := "HTTP/1.1 " + line + "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" + line
	if c.send(&net.Buffers{[]byte(text)}, time.Now().Add(refusalTime)) == nil {
		c.linger()
	}
}

// linger waits until the client has closed the connection, or had the time to read its answer. Of what it still sends no more is
// taken in than of a body that nobody reads.
func (c *conn) linger() {
	if half, ok := c.net.(interface{ CloseWrite() error }); ok && half.CloseWrite() != nil {
		return
	}
	until := time.Now().Add(lingering)
	c.reading.exactly(until)
	for left := mostUnread; left > 0; {
		n := max(c.in.Buffered(), 1)
		if _, err := c.in.Discard(n); err != nil {
			return
		}
		left -= n
	}
	time.Sleep(time.Until(until))
}
