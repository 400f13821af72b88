package framing

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// handshakeTimeout is how long a client may take for its TLS handshake.
const handshakeTimeout = 5 * time.Second

// handshakeWatcher is a listener that wants to know how handshakes ended.
type handshakeWatcher interface {
	HandshakeEnded(peer net.Addr, err error)
}

type secureConn struct {
	*conn

	tls     *tls.Conn
	watcher handshakeWatcher // nil: nobody wants to know
}

// ConnectionState returns the state after the handshake. net/http asks for it
// before it reads, once, and takes it for Request.TLS; only a bare *tls.Conn would
// be shaken hands with by net/http itself, so that is done here. A failed handshake
// fails the Read that follows.
func (c *secureConn) ConnectionState() tls.ConnectionState {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
	defer cancel()
	err := c.tls.HandshakeContext(ctx)
	if c.watcher != nil {
		c.watcher.HandshakeEnded(c.RemoteAddr(), err)
	}
	return c.tls.ConnectionState()
}
