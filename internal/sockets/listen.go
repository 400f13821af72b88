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
	}
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	s, ok := listener.(socket)
	if !ok {
		return nil, fmt.Errorf("sockets: %T is no socket", listener)
	}
	return newListener(s, reuse), nil
}
