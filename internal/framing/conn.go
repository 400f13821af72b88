package framing

import (
	"errors"
	"fmt"
	"net"

	"berth/internal/sockets"
)

// poison is malformed even in mid-line: the bare CR spoils a chunk's size line, whose extension
// net/http would skip unread, the NUL a request line and a field line. Between requests net/http
// wants four bytes before it looks at any.
const poison = "\r \x00\r\n"

type conn struct {
	net.Conn

	stream  stream
	refused error  // why nothing more of the client's is let through
	tail    string // what is left to deliver in its place
}

// Read delivers the client's bytes up to the first that may not pass.
func (c *conn) Read(p []byte) (int, error) {
	if c.refused != nil {
		return c.readRefusal(p)
	}
	n, err := c.Conn.Read(p)
	passed, refused := c.stream.pass(p[:n])
	if refused == nil {
		return n, err
	}
	c.refused, c.tail = refused, poison
	if passed > 0 {
		return passed, nil
	}
	return c.readRefusal(p)
}

// readRefusal delivers what makes net/http refuse the request. A head that is too long is made
// endless, so that net/http's own limit, which may be higher than ours, ends it with 431.
func (c *conn) readRefusal(p []byte) (int, error) {
	if errors.Is(c.refused, errTooLong) {
		for i := range p {
			p[i] = 'x'
		}
		return len(p), nil
	}
	if len(c.tail) == 0 {
		return 0, fmt.Errorf("framing: refused: %w", c.refused)
	}
	n := copy(p, c.tail)
	c.tail = c.tail[n:]
	return n, nil
}

// CloseWrite is looked for by its name: net/http calls it after an answer given before the request
// was read.
func (c *conn) CloseWrite() error { return sockets.CloseWrite(c.Conn) }
