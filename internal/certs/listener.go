package certs

import (
	"crypto/tls"
	"net"
)

type listener struct {
	net.Listener

	certs *Certs
}

// Listener returns a listener that speaks TLS on what inner accepts, and takes over
// inner. Accept does not shake hands; whoever reads first does, and tells
// HandshakeEnded (package framing).
func (c *Certs) Listener(inner net.Listener) net.Listener {
	return &listener{Listener: tls.NewListener(inner, c.serverConfig()), certs: c}
}

// HandshakeEnded hears how the handshake with a peer ended.
func (l *listener) HandshakeEnded(peer net.Addr, err error) {
	l.certs.metrics.shookHands(err)
	if err != nil {
		l.certs.log.Debug("TLS handshake failed", "peer", peer.String(), "error", err)
	}
}
