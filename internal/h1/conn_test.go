package h1_test

import (
	"context"
	"net"
	"sync"
	"time"
)

// duplex is one end of a connection in memory whose directions can end one by one.
type duplex struct {
	in, out *stream
	peer    *duplex
	once    sync.Once
	closed  chan struct{}
}

// connect returns both ends of a connection.
func connect() (near, far *duplex) {
	there, back := newStream(), newStream()
	near = &duplex{in: back, out: there, closed: make(chan struct{})}
	far = &duplex{in: there, out: back, closed: make(chan struct{}), peer: near}
	near.peer = far
	return near, far
}

func (d *duplex) Read(p []byte) (int, error)  { return d.in.Read(p) }
func (d *duplex) Write(p []byte) (int, error) { return d.out.Write(p) }

func (d *duplex) Close() error {
	d.once.Do(func() { close(d.closed) })
	d.in.leave()
	d.out.end()
	return nil
}

// CloseWrite ends the direction from here on.
func (d *duplex) CloseWrite() error {
	d.out.end()
	return nil
}

func (d *duplex) SetDeadline(t time.Time) error     { d.in.setDeadline(t); return nil }
func (d *duplex) SetReadDeadline(t time.Time) error { d.in.setDeadline(t); return nil }
func (d *duplex) SetWriteDeadline(time.Time) error  { return nil } // a write does not wait
func (*duplex) LocalAddr() net.Addr                 { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }
func (*duplex) RemoteAddr() net.Addr                { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2} }

// isClosed reports whether this end was closed.
func (d *duplex) isClosed() bool {
	select {
	case <-d.closed:
		return true
	default:
		return false
	}
}

// handoff is a listener for connections made in memory.
type handoff struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newHandoff() *handoff { return &handoff{conns: make(chan net.Conn), done: make(chan struct{})} }

func (h *handoff) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

func (h *handoff) Close() error {
	h.once.Do(func() { close(h.done) })
	return nil
}

func (*handoff) Addr() net.Addr { return &net.TCPAddr{} }

// dial connects to who accepts.
func (h *handoff) dial(ctx context.Context) (*duplex, error) {
	near, far := connect()
	select {
	case h.conns <- far:
		return near, nil
	case <-h.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// split cuts raw into pieces of the lengths that cuts name, one byte each, 0 being 256; what is left is the last.
func split(raw, cuts []byte) (pieces [][]byte) {
	for _, cut := range cuts {
		n := int(cut)
		if n == 0 {
			n = 256
		}
		if n >= len(raw) {
			break
		}
		pieces, raw = append(pieces, raw[:n]), raw[n:]
	}
	return append(pieces, raw)
}

// inPieces cuts raw into pieces of n bytes; 0: it is one.
func inPieces(raw string, n int) (pieces [][]byte) {
	if n == 0 {
		return [][]byte{[]byte(raw)}
	}
	for len(raw) > n {
		pieces, raw = append(pieces, []byte(raw[:n])), raw[n:]
	}
	return append(pieces, []byte(raw))
}
