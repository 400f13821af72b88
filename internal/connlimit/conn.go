package connlimit

import (
	"net"
	"sync"

	"berth/internal/sockets"
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
func (c *conn) CloseWrite() error { return sockets.CloseWrite(c.Conn) }

// PlainConn is what those who read without a buffer look for by its name.
func (c *conn) PlainConn() net.Conn { return c.Conn }
