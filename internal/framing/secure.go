package framing

import (
	"context"
	"crypto/tls"
	"time"
)

// handshakeTimeout is how long a client may take for its TLS handshake.
const handshakeTimeout = 5 * time.Second

// secureConn is a conn over TLS.
type secureConn struct {
	*conn

	tls *tls.Conn
}

// ConnectionState returns the state after the handshake. net/http asks for it
// before it reads, once, and takes it for Request.TLS; only a bare *tls.Conn would
// be shaken hands with by net/http itself, so that is done here. A failed handshake
// fails the Read that follows.
func (c *secureConn) ConnectionState() tls.ConnectionState {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
	defer cancel()
	_ = c.tls.HandshakeContext(ctx)
	return c.tls.ConnectionState()
}
