package sockets

import (
	"context"
	"fmt"
	"net"
)

// Listen opens host:port. With reuse another process that says so too may listen there.
func Listen(ctx context.Context, address string, reuse bool) (*Listener, error) {
	var config net.ListenConfig
	if reuse {
		config.Control = reusePort
		config.SetMultipathTCP(false) // of such a socket the kernel cannot be told where to send connections
	}
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	s, ok := listener.(socket)
	if !ok {
		return nil, fmt.Errorf("sockets: %T is no socket", listener)
	}
	l := newListener(s, reuse)
	l.reuse = reuse
	if reuse {
		l.steerBack()
	}
	return l, nil
}
