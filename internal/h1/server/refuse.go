package server

import (
	"errors"
	"io"
	"net"
	"strconv"
	"time"

	"berth/internal/h1/head"
	"berth/internal/sockets"
	"berth/internal/wire"
)

const (
	// refusalTime is what a client has to take an answer that no handler gives.
	refusalTime = 5 * time.Second

	// What a client still sends when its connection is closed resets that, and the answer is lost with it (RFC 9112, 9.6). So one that goes on sending is
	// read from for lingering, mostLingering bytes at most, and one that sends nothing has quiet to read its answer.
	lingering     = 5 * time.Second
	quiet         = 500 * time.Millisecond
	mostLingering = 16 << 20
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

// linger waits until the client has closed the connection, or had the time to read its answer.
func (c *conn) linger() {
	if err := sockets.CloseWrite(c.net); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return
	}
	until := time.Now().Add(lingering)
	for left := mostLingering; left > 0; {
		c.reading.exactly(time.Now().Add(min(quiet, time.Until(until))))
		n := max(c.in.Buffered(), 1)
		if _, err := c.in.Discard(n); err != nil {
			return
		}
		left -= n
	}
	time.Sleep(quiet)
}
