package framing

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

const defaultMaxHeader = 1 << 20

type listener struct {
	net.Listener

	maxHeader int
}

// NewListener returns a listener whose connections let through only requests of
// unambiguous framing. It is for http.Server.Serve and takes over inner.
//
// maxHeader is the size in bytes of the largest head, and of the largest trailer
// section, that is let through; 0 or less means 1 MiB. net/http answers a larger
// head with 431, whatever its own MaxHeaderBytes is.
//
// For TLS, inner is the listener of package tls: what is judged is the plain text.
// Request.TLS is set as usual. Its configuration must not offer HTTP/2. If inner has a
// method HandshakeEnded(net.Addr, error), it hears how each handshake ended.
func NewListener(inner net.Listener, maxHeader int) net.Listener {
	if maxHeader <= 0 {
		maxHeader = defaultMaxHeader
	}
	return &listener{Listener: inner, maxHeader: maxHeader}
}

// Accept waits for the next connection and wraps it. Its errors are inner's.
func (l *listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	gated := &conn{Conn: inner, stream: stream{maxHeader: l.maxHeader}}
	gated.stream.next()
	if secure, ok := inner.(*tls.Conn); ok {
		watcher, _ := l.Listener.(handshakeWatcher)
		return &secureConn{conn: gated, tls: secure, watcher: watcher}, nil
	}
	return gated, nil
}

const handshakeTimeout = 5 * time.Second

type handshakeWatcher interface {
	HandshakeEnded(peer net.Addr, err error)
}

type secureConn struct {
	*conn

	tls     *tls.Conn
	watcher handshakeWatcher // nil: nobody wants to know
}

// ConnectionState shakes hands: net/http does so with a bare *tls.Conn only, and asks for the state
// once, before it reads. A failed handshake fails the Read that follows.
func (c *secureConn) ConnectionState() tls.ConnectionState {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
	defer cancel()
	err := c.tls.HandshakeContext(ctx)
	if c.watcher != nil {
		c.watcher.HandshakeEnded(c.RemoteAddr(), err)
	}
	return c.tls.ConnectionState()
}
