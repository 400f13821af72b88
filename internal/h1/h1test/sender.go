package h1test

import (
	"net"
	"time"

	"berth/internal/exchange"
	"berth/internal/h1/client"
)

// NewSender returns a sender over connections that dial makes; nil: over TCP. connect bounds
// how long that takes, and a handshake of TLS; 0: nothing does. Its answers are spoilt when they are closed.
func NewSender(dial exchange.Dial, connect time.Duration) exchange.Sender {
	if !ByNetHTTP() {
		return lender{client.New(client.Options{Connect: connect, Dial: dial})}
	}
	if dial == nil {
		dial = (&net.Dialer{Timeout: connect}).DialContext
	}
	return lender{exchange.NewClientOver(dial, connect)}
}

// Bare is a sender of NewSender's that spoils nothing, for benchmarks.
func Bare(s exchange.Sender) exchange.Sender {
	if l, ok := s.(lender); ok {
		return l.Sender
	}
	return s
}
