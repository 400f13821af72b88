package h1test

import (
	"net"
	"time"

	"berth/internal/exchange"
	"berth/internal/h1/client"
)

// NewSender returns a sender over connections that dial makes; nil: over TCP. connect bounds
// how long that takes, and a handshake of TLS; 0: nothing does.
func NewSender(dial exchange.Dial, connect time.Duration) exchange.Sender {
	if !ByNetHTTP() {
		return client.New(client.Options{Connect: connect, Dial: dial})
	}
	if dial == nil {
		dial = (&net.Dialer{Timeout: connect}).DialContext
	}
	return exchange.NewClientOver(dial, connect)
}
