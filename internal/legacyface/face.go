package legacyface

import (
	"cmp"
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// Options bound a Face. The zero value has the defaults.
type Options struct {
	SessionPrefix string        // begins the ids of sessions
	MaxSessions   int           // that are open at a time; 0: 10,000
	Idle          time.Duration // how long a session lives that nobody uses; 0: 30 minutes
}

const (
	defaultMaxSessions = 10_000
	defaultIdle        = 30 * time.Minute
)

// Face shows a Server as one of Streamable HTTP. It implements exchange.Sender.
type Face struct {
	server        Server
	sessionPrefix string
	maxSessions   int
	idle          time.Duration
	lastID        atomic.Int64 // of a request to the server

	mu       sync.Mutex          // guards the fields below
	sessions map[string]*session // by id
	closed   bool
}

// New returns a face of server.
func New(server Server, o Options) *Face {
	return &Face{
		server: server, sessionPrefix: o.SessionPrefix, sessions: map[string]*session{},
		maxSessions: cmp.Or(o.MaxSessions, defaultMaxSessions), idle: cmp.Or(o.Idle, defaultIdle),
	}
}

// Close ends all sessions: a session is a connection. Then it closes the server.
func (f *Face) Close() {
	f.mu.Lock()
	f.closed = true
	var all []*session
	for _, s := range f.sessions {
		all = append(all, s)
	}
	f.mu.Unlock()
	for _, s := range all {
		s.Lost(LostBecause(mcp.ReasonShutdown, "the session was closed"))
	}
	f.server.Close()
}

// InFlight counts the calls of clients that servers have not answered.
func (f *Face) InFlight() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.sessions {
		n += s.inFlight()
	}
	return n
}

// Send implements exchange.Sender.
func (f *Face) Send(ctx context.Context, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	if request.Method == wire.MethodPost {
		return f.post(ctx, request, wait)
	}
	if request.Method != wire.MethodGet && request.Method != wire.MethodDelete {
		return notAllowed(errMethod), nil
	}
	if version := request.Header.Get(mcp.HeaderVersion); mcp.IsModern(version) {
		return exchange.Refusal(errVersion(version), nil), nil
	}
	s, refused := f.find(request)
	switch {
	case refused != nil:
		return exchange.Refusal(refused, nil), nil
	case request.Method == wire.MethodDelete:
		s.Lost(errEnded)
		return wire.Whole(wire.StatusNoContent, nil), nil
	}
	return s.listen(ctx, request.Header.Get(mcp.HeaderLastEvent)), nil
}

func notAllowed(why *mcp.Error) *wire.Response {
	response := exchange.Refusal(why, nil)
	response.Header.Set("Allow", "GET, POST, DELETE")
	return response
}

func (f *Face) post(ctx context.Context, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	if version := request.Header.Get(mcp.HeaderVersion); mcp.IsModern(version) {
		return exchange.Refusal(errVersion(version), nil), nil
	}
	var m mcp.Message
	id, refused := m.Peek(request.Body, 1)
	if refused == nil {
		refused = mcp.Classify(&m, request.Header)
	}
	switch {
	case refused != nil:
		return exchange.Refusal(refused, id), nil
	case m.Batch:
		return exchange.Refusal(errBatch, nil), nil
	case m.Calls[0].Era == mcp.EraModern:
		return exchange.Refusal(errVersion(m.Calls[0].Version), nil), nil
	case request.Header.Get(mcp.HeaderSession) == "":
		return f.outside(ctx, request, &m.Calls[0], wait)
	}
	s, refused := f.find(request)
	if refused != nil {
		return exchange.Refusal(refused, id), nil
	}
	return s.post(ctx, request, &m.Calls[0], wait)
}

// outside answers what comes without a session.
func (f *Face) outside(ctx context.Context, request *exchange.Request, m *mcp.Call, wait time.Duration) (*wire.Response, error) {
	switch {
	case m.Kind == mcp.KindRequest && m.Method == mcp.MethodInitialize:
		return f.open(ctx, request, m, wait)
	case m.Kind == mcp.KindRequest && m.Method == mcp.MethodPing:
		answer, err := f.server.Ping(ctx, request, wait)
		if answer == nil && err == nil {
			answer = wire.Whole(wire.StatusOK, mcp.Response(m.ID, []byte("{}")))
		}
		return answer, err
	}
	return exchange.Refusal(errNoSession, m.ID), nil
}

// find returns the session of a request.
func (f *Face) find(request *exchange.Request) (*session, *mcp.Error) {
	id := request.Header.Get(mcp.HeaderSession)
	if id == "" {
		return nil, errNoSession
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sessions[id]
	if s == nil || s.at != whereOf(request) {
		return nil, mcp.ErrUnknownSession
	}
	return s, nil
}

// where is the server that a request is for: sessions are one server's.
type where struct{ scheme, host, path string }

func whereOf(request *exchange.Request) where {
	if request.URL == nil {
		return where{}
	}
	return where{request.URL.Scheme, request.URL.Host, request.URL.Path}
}

// enter makes room for a session of a caller's there, under an id that nobody can guess.
func (f *Face) enter(at where, caller string) (*session, *mcp.Error) {
	var out []*session
	defer func() {
		for _, s := range out {
			s.Lost(crowdedOut)
		}
	}()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.sessions) >= f.maxSessions {
		out = f.crowded()
	}
	if f.closed || len(f.sessions) >= f.maxSessions {
		return nil, errFull
	}
	s := newSession(f, at, f.sessionPrefix+rand.Text(), caller)
	f.sessions[s.id] = s
	return s, nil
}

func (f *Face) forget(s *session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sessions, s.id)
}
