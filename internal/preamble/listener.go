package preamble

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/sockets"
)

const (
	// pause is how long accepting rests after a temporary error, as net/http's server does at most.
	pause = time.Second

	// lastly is how long those have to begin that were accepted before the end.
	lastly = time.Second
)

// source accepts connections for the listeners made of it, and begins each in a goroutine of its own.
type source struct {
	inner  net.Listener
	begins sync.WaitGroup // those of connections that go on
	once   sync.Once
	over   chan struct{} // closed at the end
	err    error         // why; set before that
}

func newSource(inner net.Listener) *source { return &source{inner: inner, over: make(chan struct{})} }

// accept has begin see to each connection, and failed to each temporary error, to the source's end.
func (s *source) accept(begin func(net.Conn), failed func(error)) {
	for {
		conn, err := s.inner.Accept()
		switch {
		case err == nil:
			s.begins.Go(func() { begin(conn) })
		case sockets.IsTemporary(err):
			failed(err)
		default:
			s.awaitBegun()
			s.end(err)
			return
		}
	}
}

// awaitBegun waits for connections that were accepted to begin, and to be handed on.
func (s *source) awaitBegun() {
	all, late := make(chan struct{}), time.NewTimer(lastly)
	defer late.Stop()
	go func() {
		defer close(all)
		s.begins.Wait()
	}()
	select {
	case <-all:
	case <-late.C:
	case <-s.over:
	}
}

// rest waits after a temporary error.
func (s *source) rest(error) {
	select {
	case <-s.over:
	case <-time.After(pause):
	}
}

func (s *source) end(err error) {
	s.once.Do(func() {
		s.err = err
		close(s.over)
	})
}

// listener hands on connections that have begun.
type listener struct {
	*source

	conns  chan net.Conn
	errors chan error // temporary ones
	closed atomic.Bool
}

func (s *source) newListener() *listener {
	return &listener{source: s, conns: make(chan net.Conn), errors: make(chan error)}
}

// tell hands a temporary error on.
func (l *listener) tell(err error) {
	select {
	case l.errors <- err:
	case <-l.over:
	}
}

func (l *listener) offer(conn net.Conn) {
	select {
	case l.conns <- conn:
	case <-l.over:
		_ = conn.Close()
	}
}

// Accept waits for the next connection. Its errors are the inner listener's.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case err := <-l.errors:
		return nil, err
	case <-l.over:
		return nil, l.err
	}
}

// Close closes the inner listener. What that still accepts is handed on, as far as it begins within a second, and then Accept fails here
// and at the others. Who accepts no more closes once more, and ends them at once.
func (l *listener) Close() error {
	if l.closed.Swap(true) {
		l.end(net.ErrClosed)
	}
	return l.inner.Close()
}

// Addr is the inner listener's.
func (l *listener) Addr() net.Addr { return l.inner.Addr() }
