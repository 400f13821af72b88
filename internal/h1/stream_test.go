package h1_test

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// stream is one direction of a connection in memory, as a kernel has it: who writes does not wait, each Read returns what one
// Write wrote at most, and what has come can be read though the deadline is over.
type stream struct {
	mu       sync.Mutex // guards the fields below
	changed  sync.Cond
	pieces   [][]byte
	ended    error // what Read returns after the pieces; nil: it waits
	deadline time.Time
	timer    *time.Timer
	gone     bool // nobody reads any more
}

func newStream() *stream {
	s := new(stream)
	s.changed.L = &s.mu
	return s
}

func (s *stream) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.gone:
			return 0, net.ErrClosed
		case len(s.pieces) > 0:
			n := copy(p, s.pieces[0])
			if s.pieces[0] = s.pieces[0][n:]; len(s.pieces[0]) == 0 {
				s.pieces = s.pieces[1:]
			}
			return n, nil
		case s.ended != nil:
			return 0, s.ended
		case !s.deadline.IsZero() && !time.Now().Before(s.deadline):
			return 0, os.ErrDeadlineExceeded
		}
		s.changed.Wait()
	}
}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended != nil:
		return 0, net.ErrClosed
	case s.gone:
		return 0, io.ErrClosedPipe
	case len(p) > 0:
		s.pieces = append(s.pieces, append([]byte(nil), p...))
	}
	s.changed.Broadcast()
	return len(p), nil
}

// end has Read return io.EOF after what was written.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.ended = io.EOF
	}
	s.changed.Broadcast()
}

// leave says that nobody reads any more.
func (s *stream) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	if s.timer != nil {
		s.timer.Stop()
	}
	s.changed.Broadcast()
}

func (s *stream) setDeadline(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if s.deadline = t; !t.IsZero() && !s.gone {
		s.timer = time.AfterFunc(time.Until(t), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.changed.Broadcast()
		})
	}
	s.changed.Broadcast()
}
