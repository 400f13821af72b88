package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"time"
)

const handshakeTime = 5 * time.Second

// secure is a connection over TLS.
type secure interface {
	HandshakeContext(ctx context.Context) error
	ConnectionState() tls.ConnectionState
	NetConn() net.Conn
}

// shakeHands shakes hands where TLS is spoken. It reports whether the connection stands.
func (c *conn) shakeHands() bool {
	s, ok := c.net.(secure)
	if !ok {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTime)
	defer cancel()
	err := s.HandshakeContext(ctx)
	if heard := c.server.options.HandshakeEnded; heard != nil {
		heard(c.net.RemoteAddr(), err)
	}
	if err != nil {
		answerPlain(err)
		return false
	}
	state := s.ConnectionState()
	c.tls = &state
	return true
}

// answerPlain tells a client that speaks HTTP where TLS is spoken, as net/http does.
func answerPlain(err error) {
	var record tls.RecordHeaderError
	if !errors.As(err, &record) || record.Conn == nil || !looksLikeHTTP(record.RecordHeader) {
		return
	}
	_ = record.Conn.SetWriteDeadline(time.Now().Add(refusalTime))
	_, _ = io.WriteString(record.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
}

func looksLikeHTTP(begin [5]byte) bool {
	return slices.Contains([]string{"GET /", "HEAD ", "POST ", "PUT /", "OPTIO"}, string(begin[:]))
}
