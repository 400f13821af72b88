package fleet

import (
	"context"
	"net/http"
	"sync"
)

// counters are what tests and the report ask an instance about its traffic.
type counters struct {
	mu         sync.Mutex // guards the fields below
	calls      map[string]int
	headers    map[string]http.Header
	hangups    map[string]int
	executions int
	byLabel    map[string]int
	cancelled  int
	resumed    int
	denied     map[string]int
}

func (c *counters) note(method string, h http.Header) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = map[string]int{}
		c.headers = map[string]http.Header{}
		c.hangups = map[string]int{}
		c.denied = map[string]int{}
	}
	c.calls[method]++
	c.headers[method] = h.Clone()
}

func (s *Server) countHangup(ctx context.Context, method string) {
	if ctx.Err() == nil {
		return
	}
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	s.counters.hangups[method]++
}

func (s *Server) countExecution(label string) {
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	s.counters.executions++
	if s.counters.byLabel == nil {
		s.counters.byLabel = map[string]int{}
	}
	s.counters.byLabel[label]++
}

func (s *Server) countCancelled() {
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	s.counters.cancelled++
}

func (s *Server) countResumed() {
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	s.counters.resumed++
}

func (s *Server) countDenied(method string) {
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	s.counters.denied[method]++
}

// Calls is how many JSON-RPC messages of that method arrived, refused and
// intercepted ones included. GET and DELETE requests count under these names,
// a client's bare responses and what is no JSON-RPC at all under "".
func (s *Server) Calls(method string) int {
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	return s.counters.calls[method]
}

// LastHeader is the request header of the latest call of that method, nil if
// there was none.
func (s *Server) LastHeader(method string) http.Header {
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	return s.counters.headers[method].Clone()
}

// Hangups is how many calls of that method lost their client before they were
// answered.
func (s *Server) Hangups(method string) int {
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	return s.counters.hangups[method]
}

// Executions is how many tools were run: counted when a tool starts, as a task
// or not.
func (s *Server) Executions() int {
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	return s.counters.executions
}

// ExecutionsOf is how many of them had that label as an argument.
func (s *Server) ExecutionsOf(label string) int {
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	return s.counters.byLabel[label]
}

// Cancelled is how many calls notifications/cancelled has ended.
func (s *Server) Cancelled() int {
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	return s.counters.cancelled
}

// Resumed is how many streams were taken up again by Last-Event-ID.
func (s *Server) Resumed() int {
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	return s.counters.resumed
}

// Denied is how many calls of that method named a task or a session that this
// instance does not know. A batch counts as its first call.
func (s *Server) Denied(method string) int {
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	return s.counters.denied[method]
}
