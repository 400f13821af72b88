package alpn

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"
)

// HTTP2 is what the protocol is called in handshakes (RFC 9113, 3.2).
const HTTP2 = "h2"

const (
	handshakeTimeout = 5 * time.Second

	// pause is how long accepting rests after a temporary error, as net/http's server does at most.
	pause = time.Second
)

// Split accepts connections from inner, which is package tls's or wraps such, and returns those
// that agreed on HTTP/2 and all others. ended hears how each handshake ended.
func Split(inner net.Listener, ended func(peer net.Addr, err error)) (second, others net.Listener) {
	s := &splitter{inner: inner, ended: ended, over: make(chan struct{}), err: net.ErrClosed}
	two, one := &listener{s, make(chan net.Conn)}, &listener{s, make(chan net.Conn)}
	go s.accept(two, one)
	return two, one
}

// splitter is what both listeners share.
type splitter struct {
	inner net.Listener
	ended func(peer net.Addr, err error)
	close sync.Once
	over  chan struct{} // closed at the end
	err   error         // why; set before that
}

// accept hands connections out, to its end.
func (s *splitter) accept(second, others *listener) {
	for {
		conn, err := s.inner.Accept()
		if err == nil {
			go s.part(conn, second, others)
			continue
		}
		if temporary, ok := errors.AsType[interface {
			error
			Temporary() bool
		}](err); !ok || !temporary.Temporary() {
			s.end(err)
			return
		}
		select {
		case <-s.over:
			return
		case <-time.After(pause):
		}
	}
}

// part shakes hands with whoever is at the other end of conn.
func (s *splitter) part(conn net.Conn, second, others *listener) {
	secure, ok := conn.(*tls.Conn)
	if !ok {
		others.offer(conn)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
	defer cancel()
	err := secure.HandshakeContext(ctx)
	s.ended(secure.RemoteAddr(), err)
	switch {
	case err != nil:
		_ = secure.Close()
	case secure.ConnectionState().NegotiatedProtocol == HTTP2:
		second.offer(secure)
	default:
		others.offer(secure)
	}
}

func (s *splitter) end(err error) {
	s.close.Do(func() {
		s.err = err
		close(s.over)
	})
}

// listener is one of the two.
type listener struct {
	*splitter

	conns chan net.Conn
}

func (l *listener) offer(conn net.Conn) {
	select {
	case l.conns <- conn:
	case <-l.over:
		_ = conn.Close()
	}
}

// Accept waits for the next connection. Its errors are inner's.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.over:
		return nil, l.err
	}
}

// Close closes inner, and ends both listeners.
func (l *listener) Close() error {
	l.end(net.ErrClosed)
	return l.inner.Close()
}

// Addr is inner's.
func (l *listener) Addr() net.Addr { return l.inner.Addr() }
