package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/h1/lookout"
	"berth/internal/wire"
)

// ErrClosed is what Serve returns once the server was shut down or closed.
var ErrClosed = errors.New("http1: server closed")

// Handler answers requests.
type Handler interface {
	// Serve answers one request. It reports whether the answer is whole; if not, the connection ends
	// where it is.
	Serve(w wire.Client, r *wire.Request) (whole bool)
}

// Options are what a Server is made of.
type Options struct {
	Handler    Handler
	HeaderRead time.Duration // that a head may take; 0: any
	Idle       time.Duration // that a connection may be without a request; 0: any
	MaxHead    int           // bytes of a head; 0: 1 MiB
	Logger     *slog.Logger  // nil: discarded

	// HandshakeEnded hears how each handshake of TLS ended; nil: nobody does.
	HandshakeEnded func(peer net.Addr, err error)

	// Refused hears of each request that is answered with a status here, since its head is none; nil: nobody does.
	Refused func(peer string, status int, why error)
}

// Server serves connections. Make it with New.
type Server struct {
	options Options
	closing atomic.Bool // no connection is kept after its answer
	lookout lookout.Lookout

	mu        sync.Mutex // guards the fields below
	listeners map[net.Listener]struct{}
	conns     map[*conn]struct{}
	closed    bool          // whatever comes is closed at once
	empty     chan struct{} // closed when the last connection has ended; nil: nobody waits
}

const defaultMaxHead = 1 << 20

// New returns a server.
func New(o Options) *Server {
	if o.MaxHead <= 0 {
		o.MaxHead = defaultMaxHead
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Server{options: o, listeners: make(map[net.Listener]struct{}), conns: make(map[*conn]struct{})}
}

// Shutdown closes the listeners and the idle connections, and waits until all others have answered. The
// error is ctx's.
func (s *Server) Shutdown(ctx context.Context) error {
	s.closing.Store(true)
	s.closeListeners()
	for _, c := range s.all() {
		if c.state.CompareAndSwap(idle, closed) {
			_ = c.net.Close()
		}
	}
	select {
	case <-s.whenEmpty():
		s.lookout.End()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close closes the listeners and all connections.
func (s *Server) Close() error {
	s.closing.Store(true)
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.closeListeners()
	for _, c := range s.all() {
		c.cut()
	}
	s.lookout.End()
	return nil
}

func (s *Server) closeListeners() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.listeners {
		_ = l.Close()
	}
}

// all are the connections that are open.
func (s *Server) all() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		all = append(all, c)
	}
	return all
}

func (s *Server) whenEmpty() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.empty == nil {
		s.empty = make(chan struct{})
		if len(s.conns) == 0 {
			close(s.empty)
		}
	}
	return s.empty
}

// enter counts a connection in, unless the server was closed.
func (s *Server) enter(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

func (s *Server) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if len(s.conns) > 0 || s.empty == nil {
		return
	}
	select {
	case <-s.empty:
	default:
		close(s.empty)
	}
}
