package server

import (
	"net"
	"time"

	"berth/internal/sockets"
)

// Accepting rests after a temporary error, longer after each, as net/http's server does.
const (
	firstRest   = 5 * time.Millisecond
	longestRest = time.Second
)

// Serve serves the connections that l accepts, until l fails for good. It takes l over.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	if !s.listens(l) {
		return ErrClosed
	}
	defer s.listensNoMore(l)
	for rest := firstRest; ; {
		inner, err := l.Accept()
		switch {
		case err == nil:
			rest = firstRest
			s.begin(inner)
		case s.closing.Load():
			return ErrClosed
		case sockets.IsTemporary(err):
			s.options.Logger.Debug("accepting failed, it is tried again", "error", err, "after", rest.String())
			time.Sleep(rest)
			rest = min(2*rest, longestRest)
		default:
			return err
		}
	}
}

func (s *Server) begin(inner net.Conn) {
	c := newConn(s, inner)
	if !s.enter(c) {
		_ = inner.Close()
		return
	}
	go c.serve()
}

func (s *Server) listens(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return false
	}
	s.listeners[l] = struct{}{}
	return true
}

func (s *Server) listensNoMore(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}
