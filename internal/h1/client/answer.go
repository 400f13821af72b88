package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"berth/internal/exchange"
	"berth/internal/fresh"
	"berth/internal/h1/head"
	"berth/internal/wire"
)

// maxHeads is what the heads of an answer may have together, in bytes: its own, and those of informational ones.
const maxHeads = 256 << 10

// exchange sends a request and returns its answer.
func (c *conn) exchange(r *exchange.Request) (*wire.Response, error) {
	if err := c.write(r); err != nil {
		return nil, err
	}
	h, err := c.readHead()
	if err != nil {
		return nil, err
	}
	c.inTime()
	return c.answer(r.Method, h), nil
}

// parsers read heads. A connection has one from the head of an answer to the end of that, or until nobody needs the head any more.
var parsers = sync.Pool{New: func() any { return new(head.Parser) }}

func (c *conn) giveHeadsBack() {
	if c.heads != nil {
		c.heads.Forget()
		parsers.Put(c.heads)
		c.heads = nil
	}
}

// readHead reads the head of the answer.
func (c *conn) readHead() (*head.Response, error) {
	for limit := maxHeads; ; {
		h, err := c.nextHead(limit)
		switch {
		case err != nil:
			return nil, err
		case exchange.IsFinal(h.Status):
			return h, nil
		case h.Status < 100 || h.Status > 199 || h.Status == 101:
			return nil, fmt.Errorf("%w %d", exchange.ErrStatus, h.Status)
		}
		if limit -= length(h); limit <= 0 {
			return nil, head.ErrTooLong
		}
	}
}

// nextHead reads a head, for which it waits without memory.
func (c *conn) nextHead(limit int) (*head.Response, error) {
	for {
		err := c.in.WaitReadable()
		if err == nil {
			var h *head.Response
			if c.heads == nil {
				c.heads = parsers.Get().(*head.Parser)
			}
			if h, err = c.heads.Response(&c.in, limit); err == nil {
				return h, nil
			}
		}
		if !c.goesOn(err) {
			return nil, err
		}
	}
}

// length is what a head has at least, in bytes.
func length(h *head.Response) int {
	n := len("HTTP/1.1 100\r\n\r\n") + len(h.Phrase)
	for _, f := range h.Header.Fields() {
		n += len(f.Name) + len(f.Value) + len(":\r\n")
	}
	return n
}

// answer is one that is being read. It is no connection's and never used again, so that who closes it a second time closes
// nothing else.
type answer struct {
	wire.Response

	conn  *conn
	state atomic.Uint32
	ready func() // hears that it is awaited no more
}

var answers = fresh.New[answer](8)

// States of an answer. One that is closed while it is read ends with that read.
const (
	open uint32 = iota
	reading
	awaited // by the lookout
	closing
	closed
)

// answer begins the body of an answer (RFC 9112, 6.3).
func (c *conn) answer(method string, h *head.Response) *wire.Response {
	a := answers.Next()
	a.conn, a.Response = c, wire.Response{
		Status: h.Status, Phrase: wire.Phrase(h.Status), Header: h.Header, ContentLength: max(h.Length, -1), ProtoMajor: 1, ProtoMinor: h.Minor,
	}
	a.Body = a
	src := (*source)(c)
	c.keep = c.keep && !h.Close
	switch {
	case method == wire.MethodHead:
		c.body.Length(src, 0)
	case h.Status == wire.StatusNoContent || h.Status == statusNotModified:
		// What frames a body where none may be is followed by one, or not.
		c.keep = c.keep && (h.Status == statusNotModified || h.Length == head.NoLength || h.Length == 0)
		c.body.Length(src, 0)
		a.ContentLength = 0
	case h.Length == head.Chunked:
		c.body.Chunks(src, nil)
	case h.Length == head.NoLength:
		c.keep = false
		c.body.UntilClose(src)
	default:
		c.body.Length(src, h.Length)
	}
	if h.Close && h.Minor > 0 && saysCloseAlone(h.Header) {
		h.Header.Del("Connection")
	}
	return &a.Response
}

// saysCloseAlone reports whether Connection does: what it names besides is dropped with it further on.
func saysCloseAlone(h *wire.Header) bool {
	for value := range h.Values("Connection") {
		if !strings.EqualFold(value, "close") {
			return false
		}
	}
	return true
}

const statusNotModified = 304

// errClosed says that the body was closed before it was read.
var errClosed = errors.New("http1: read of a closed body")

// Read implements [io.Reader].
func (a *answer) Read(p []byte) (int, error) {
	if !a.state.CompareAndSwap(open, reading) {
		return 0, errClosed
	}
	n, err := a.conn.body.Read(p)
	if err != nil && err != io.EOF {
		if cause := context.Cause(a.conn.terms.ctx); cause != nil {
			err = cause
		}
	}
	a.endRead()
	return n, err
}

// endRead ends a read, and the exchange if it was closed meanwhile.
func (a *answer) endRead() {
	if !a.state.CompareAndSwap(reading, open) {
		a.state.Store(closed)
		a.conn.end(false)
	}
}

// Close ends the exchange. It may be called while Read waits, which fails then.
func (a *answer) Close() error {
	for {
		switch a.state.Load() {
		case open:
			if a.state.CompareAndSwap(open, closed) {
				a.conn.end(a.conn.keep && a.conn.body.Whole())
				return nil
			}
		case reading:
			if a.state.CompareAndSwap(reading, closing) {
				_ = a.conn.net.Close()
				return nil
			}
		case awaited:
			if a.state.CompareAndSwap(awaited, closed) {
				ready := a.ready // the answer is not looked at any more
				a.conn.end(false)
				listeners.Run(ready)
				return nil
			}
		default:
			return nil
		}
	}
}
