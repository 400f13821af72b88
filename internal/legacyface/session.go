package legacyface

import (
	"context"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// session is one that a client has opened. It is the Listener of its connection.
type session struct {
	face   *Face
	at     where
	id     string
	caller string // who has opened it

	mu        sync.Mutex // guards the fields below, and those of calls
	conn      Conn       // nil: not there yet
	version   string     // that was negotiated
	over      bool
	used      time.Time // last
	idle      *time.Timer
	calls     map[string]*call   // under way, by the id that the server knows
	begun     int                // calls
	questions map[string]*stream // that the client is asked, by mcp.IDKey: where
	standing  *stream
	streams   map[int]*stream // of calls, also of those that have ended
	ended     []*stream       // of these, the first to end first
	forgets   []*time.Timer   // of ended
}

func newSession(f *Face, at where, id, caller string) *session {
	s := &session{
		face: f, at: at, id: id, caller: caller, used: time.Now(), standing: &stream{},
		calls: map[string]*call{}, questions: map[string]*stream{}, streams: map[int]*stream{},
	}
	s.mu.Lock() // tire reads idle
	defer s.mu.Unlock()
	s.idle = time.AfterFunc(f.idle, s.tire)
	return s
}

// begin gives the session its connection, which is closed if the session is over already.
func (s *session) begin(conn Conn) {
	s.mu.Lock()
	over := s.over
	s.conn = conn
	s.mu.Unlock()
	if over {
		conn.Close()
	}
}

func (s *session) negotiated(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

// touch notes that the session is used.
func (s *session) touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = time.Now()
}

// tire ends the session if nobody has used it for long enough: who waits for a call does, and who
// reads the standing stream.
func (s *session) tire() {
	s.mu.Lock()
	rest := s.face.idle - time.Since(s.used)
	if s.isAwaited() || s.standing.isRead() {
		rest = s.face.idle
	}
	if !s.over && rest > 0 {
		s.idle.Reset(rest)
	}
	s.mu.Unlock()
	if rest <= 0 {
		s.Lost(LostBecause(mcp.ReasonSessionLost, "nobody has used the session for too long"))
	}
}

// isAwaited reports whether somebody waits for the answer to a call: one that its client has left, and does not come back to, may
// never have any. The caller holds mu.
func (s *session) isAwaited() bool {
	for _, c := range s.calls {
		if c.stream == nil || c.stream.isRead() || !c.begun && !c.isTaken() {
			return true
		}
	}
	return false
}

// Lost implements Listener.
func (s *session) Lost(why *mcp.Error) {
	s.mu.Lock()
	if s.over {
		s.mu.Unlock()
		return
	}
	s.over = true
	for _, c := range s.calls {
		s.finish(c, why.Body(c.id), why)
	}
	s.standing.end()
	s.idle.Stop()
	for _, timer := range s.forgets {
		timer.Stop()
	}
	conn := s.conn
	s.mu.Unlock()
	s.face.forget(s)
	if conn != nil {
		conn.Close()
	}
}

// post takes a message of the client's.
func (s *session) post(ctx context.Context, request *exchange.Request, m *mcp.Call, wait time.Duration) (*wire.Response, error) {
	s.touch()
	switch {
	case m.Kind == mcp.KindRequest && m.Method == mcp.MethodInitialize:
		return exchange.Refusal(errInitialized, m.ID), nil
	case m.Kind == mcp.KindRequest:
		return s.request(ctx, request, m, wait)
	case m.Kind == mcp.KindResponse:
		return s.settle(ctx, request, m, wait)
	case m.Method == mcp.MethodCancelled:
		return s.cancel(ctx, request, wait)
	}
	return s.tell(ctx, request, request.Body, wait)
}
