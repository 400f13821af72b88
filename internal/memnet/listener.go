// Package memnet is a network in memory, for tests under testing/synctest:
// listeners with names, and connections between them and those who dial.
//
// Connections are net.Pipe: unbuffered, with deadlines, and durably blocking,
// so that fake time moves on while both ends wait. The cost is that a write
// returns only when the other end has read it; there is no backlog either, so
// a dial waits for Accept.
package memnet

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"
)

// A Listener accepts connections in memory. Make it with Listen.
type Listener struct {
	addr   addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Listen returns a listener of that name. Names are not registered anywhere:
// two listeners of one name are two listeners.
func Listen(name string) *Listener {
	return &Listener{addr: addr(name), conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept implements [net.Listener]. After Close its error is [net.ErrClosed].
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: l.addr.Network(), Addr: l.addr, Err: net.ErrClosed}
	}
}

// Dial connects to the listener. It waits for Accept as long as ctx allows; a
// closed listener refuses with ECONNREFUSED, as a closed port does.
func (l *Listener) Dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- conn{server, l.addr, clientAddr}:
		return conn{client, clientAddr, l.addr}, nil
	case <-l.closed:
		return nil, l.dialError(syscall.ECONNREFUSED)
	case <-ctx.Done():
		return nil, l.dialError(context.Cause(ctx))
	}
}

// Close makes Accept and Dial fail. Connections made before live on.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements [net.Listener]: the network is "mem", the address the name.
func (l *Listener) Addr() net.Addr { return l.addr }

func (l *Listener) dialError(err error) error {
	return &net.OpError{Op: "dial", Net: l.addr.Network(), Addr: l.addr, Err: err}
}

// Dialer returns a dial function for [net/http.Transport] that reaches the
// given listeners by name, whatever the port; other names do not resolve.
func Dialer(listeners ...*Listener) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("memnet: dial %q: %w", address, err)
		}
		for _, l := range listeners {
			if string(l.addr) == host {
				return l.Dial(ctx)
			}
		}
		return nil, &net.DNSError{Err: "no such listener", Name: host, IsNotFound: true}
	}
}
