package preamble

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// HTTP2 is what the protocol is called in handshakes (RFC 9113, 3.2).
const HTTP2 = "h2"

// within is how long a connection has to begin.
const within = 5 * time.Second

// SplitHTTP2 accepts connections from inner, which is package tls's or wraps such, and returns
// those that agreed on HTTP/2 and all others. ended hears how each handshake ended.
func SplitHTTP2(inner net.Listener, ended func(peer net.Addr, err error)) (second, others net.Listener) {
	s := newSource(inner)
	two, one := s.newListener(), s.newListener()
	go s.accept(func(conn net.Conn) {
		secure, ok := conn.(*tls.Conn)
		if !ok {
			one.offer(conn)
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		err := secure.HandshakeContext(ctx)
		ended(secure.RemoteAddr(), err)
		switch {
		case err != nil:
			answerPlain(err)
			_ = secure.Close()
		case secure.ConnectionState().NegotiatedProtocol == HTTP2:
			two.offer(secure)
		default:
			one.offer(secure)
		}
	}, s.rest)
	return two, one
}
