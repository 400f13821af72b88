package connlimit

import (
	"errors"
	"fmt"
	"net"
	"sync"
)

// conn is a connection that is counted until it is closed.
type conn struct {
	net.Conn

	once  sync.Once
	leave func()
}

// Close closes the connection and counts it out.
func (c *conn) Close() error {
	c.once.Do(c.leave)
	return c.Conn.Close()
}

// CloseWrite closes the sending side, which those who serve look for by its name.
func (c *conn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return fmt.Errorf("connlimit: close write: %w", errors.ErrUnsupported)
	}
	return half.CloseWrite()
}

// PlainConn is what those who read without a buffer look for by its name.
func (c *conn) PlainConn() net.Conn { return c.Conn }
