package stdio

import (
	"context"
	"sync"
	"time"

	"berth/internal/stdio/process"
)

// Server runs the processes of one upstream and is that upstream to whoever sends. New makes one.
type Server struct {
	options Options
	timing  timing
	starter *process.Starter

	mu       sync.Mutex // guards the fields below, and those of peers, sessions and calls
	peers    peers
	spares   map[string]*peer // whose opener left before they were ready; by what was asked
	sessions map[string]*session
	breaker  breaker
	trial    *peer // shows whether that is over; nil: none does
	asked    int64 // the number of the last question to a client
	sweeping *time.Timer
	watching *time.Timer
	closing  bool
	empty    chan struct{} // closed when no process is left, once closing
}

// New returns a server that runs nothing yet.
func New(options Options) *Server {
	options = options.withDefaults()
	timing := defaultTiming(options.Idle)
	return &Server{
		options: options, timing: timing, starter: process.NewStarter(),
		peers: peers{}, spares: map[string]*peer{},
		sessions: map[string]*session{}, breaker: breaker{backoff: timing.backoff, trial: options.Restart},
		empty: make(chan struct{}),
	}
}

// Close implements exchange.Sender: processes that have no session are stopped.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.peers {
		if p.isReady() && len(p.sessions) == 0 && !p.alone {
			p.stop("nobody uses it")
		}
	}
}

// Shutdown starts nothing more, stops all processes, and returns when they are gone. What is in
// flight fails. With the end of ctx they are killed, and its error is returned.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	if !s.closing {
		s.closing = true
		if len(s.peers) == 0 {
			close(s.empty)
		}
		for _, timer := range []*time.Timer{s.sweeping, s.watching} {
			if timer != nil {
				timer.Stop()
			}
		}
		for p := range s.peers {
			p.stop("berth shuts down")
		}
	}
	s.mu.Unlock()
	var err error
	select {
	case <-s.empty:
	case <-ctx.Done():
		err = context.Cause(ctx)
		s.killAll()
		<-s.empty
	}
	s.starter.Close()
	return err
}

func (s *Server) killAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.peers {
		if p.process != nil {
			p.process.Kill("berth shuts down")
		}
	}
}

// InFlight counts the calls of clients that processes have not answered.
func (s *Server) InFlight() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		n += len(session.calls)
	}
	return n
}

// Tied counts what clients wait for that ends with the processes: calls in flight, and tasks of theirs.
func (s *Server) Tied() (n int) {
	n = s.InFlight()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for p := range s.peers {
		for _, made := range p.tasks {
			if !p.stopping && !made.session.over && now.Before(made.awaited) {
				n++
			}
		}
	}
	return n
}
