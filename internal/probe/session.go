package probe

import (
	"context"
	"net/http"

	"berth/internal/mcp"
)

// session is a legacy session that the run opened.
type session struct {
	id      string
	scope   scope // in which it is used
	broken  bool  // a message in it was denied
	silent  bool  // a message in it got no answer to judge by
	ended   bool  // it was ended
	endless bool  // its server does not let clients end sessions
}

// breaksSession reports whether the reply says that the session it was sent in does not
// exist: 404 (2025-11-25, transports, "Session Management"), or, with older servers, 400
// for something else than parameters.
func (r reply) breaksSession() bool {
	if r.scope.session == nil || r.scope.second || r.judge() != lost || r.noMethod() {
		return false
	}
	status, fault := r.answer.Status, r.answer.Error
	return status == http.StatusNotFound ||
		status == http.StatusBadRequest && (fault == nil || fault.Code != mcp.CodeInvalidParams)
}

// openSessions opens as many sessions as there are rounds, first being one of them.
func (r *run) openSessions(ctx context.Context, first *handshake) []*session {
	open := []*session{first.session}
	for len(open) < r.options.Rounds {
		answered, shook := r.initialize(ctx, scope{})
		if answered.unsent {
			break
		}
		if shook == nil || shook.session == nil {
			c := r.check(first.Version, checkSessions)
			c.Asked++
			c.Failed++
			c.Example = r.text("initialize: " + answered.String())
			break
		}
		open = append(open, shook.session)
	}
	return open
}

// use sends messages in each session until one is denied, the sessions mixed.
func (r *run) use(ctx context.Context, open []*session) {
	step := func(send func(s *session) reply) {
		for _, s := range shuffled(open) {
			if !s.broken {
				r.observe(s, send(s))
			}
		}
	}
	step(func(s *session) reply { return r.wire.notify(ctx, s.scope, mcp.MethodInitialized) })
	for range pingsPerSession {
		step(func(s *session) reply { return r.wire.request(ctx, s.scope, mcp.MethodPing, nil) })
	}
}

// observe notes what a reply says of the session that its request was sent in.
func (r *run) observe(s *session, answered reply) {
	c := r.check(s.scope.version, checkSessions)
	switch {
	case answered.breaksSession():
		s.broken = true
		if c.Example == "" {
			c.Example = r.text(answered.String())
		}
	case answered.judge() == failed:
		s.silent = true
	}
}

// countSessions closes the books on sessions that were opened.
func (r *run) countSessions(version string, open []*session) {
	c := r.check(version, checkSessions)
	c.Asked += len(open)
	for _, s := range open {
		switch {
		case s.broken:
			c.Lost++
		case s.silent:
			c.Failed++
		}
	}
}

// holding are the sessions that no message was denied in.
func holding(open []*session) []*session {
	var hold []*session
	for _, s := range open {
		if !s.broken {
			hold = append(hold, s)
		}
	}
	return hold
}

// standing opens the standing stream of some sessions, and leaves it at once.
func (r *run) standing(ctx context.Context, open []*session) {
	for _, s := range open[:min(len(open), streams)] {
		answered := r.wire.bare(ctx, s.scope, http.MethodGet)
		if answered.noMethod() {
			r.skip(s.scope.version, checkStreams, "the server offers no standing stream")
			return
		}
		r.book(r.check(s.scope.version, checkStreams), answered)
		s.broken = s.broken || answered.breaksSession()
	}
}

// endAll ends the sessions that hold.
func (r *run) endAll(ctx context.Context, open []*session) {
	for _, s := range shuffled(open) {
		answered := r.wire.bare(ctx, s.scope, http.MethodDelete)
		if s.endless = answered.noMethod(); s.endless {
			r.skip(s.scope.version, checkEnds, "the server does not let clients end sessions")
			return
		}
		s.ended = r.book(r.check(s.scope.version, checkEnds), answered) == held
	}
}
