package stdio

import (
	"bytes"
	"time"

	"berth/internal/mcp"
)

// maxAsks bounds the open questions to one client.
const maxAsks = 64

// ask is a question to a client that has not been answered.
type ask struct {
	id     []byte // the process's, raw
	peer   *peer
	stream *stream
	event  int // on that
}

// question takes a request of the process's: to the client of the call that it can belong to.
func (p *peer) question(message, id []byte, method string) {
	if method == mcp.MethodPing {
		p.push(nil, mcp.Response(id, []byte("{}")))
		return
	}
	id = bytes.Clone(id)
	asker, ambiguous := p.calls.asker(mcp.RelatedTask(message), &p.left, p.sessions)
	switch {
	case ambiguous:
		if p.odd.isNew("ambiguous") {
			p.server.options.Logger.Warn("stdio process asks while calls of several sessions are in flight, or were left and not answered: it is refused", "method", method)
		}
		p.refuse(id, "cannot tell which of several clients' calls asks: set isolation = \"session\", or a greater max_processes")
	case asker != nil:
		p.ask(asker.session, asker.stream, message, id)
	case len(p.sessions) == 1:
		for session := range p.sessions {
			p.askStanding(session, message, id)
		}
	default:
		p.refuse(id, "no call is in flight that could ask")
	}
}

// ask puts a question on a stream, under a number that no other has, and returns that; 0: there
// are too many.
func (p *peer) ask(session *session, st *stream, message, id []byte) int64 {
	s := p.server
	if session.over || len(session.asks) >= maxAsks {
		p.refuse(id, "the client has too many open questions, or is gone")
		return 0
	}
	s.asked++
	session.asks[s.asked] = &ask{id: id, peer: p, stream: st, event: st.add(mcp.WithID(message, number(s.asked)), true)}
	return s.asked
}

// askStanding puts a question on a session's standing stream. Nobody may read that: a client opens
// it, if at all, a moment after its session.
func (p *peer) askStanding(session *session, message, id []byte) {
	asked := p.ask(session, session.standing, message, id)
	if asked == 0 {
		return
	}
	s := p.server
	time.AfterFunc(s.timing.standing, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		_, read, _, _, _ := session.standing.state()
		if a := session.asks[asked]; a != nil && !read {
			session.settle(asked)
			p.refuse(id, "no client listens")
		}
	})
}

// settle takes a question as no longer open, and returns it; nil: it is not.
func (s *session) settle(asked int64) *ask {
	a := s.asks[asked]
	if a != nil {
		delete(s.asks, asked)
		a.stream.settle(a.event)
	}
	return a
}

// refuse answers a question of the process's with an error.
func (p *peer) refuse(id []byte, why string) {
	p.push(nil, mcp.ErrorResponse(id, (&mcp.Error{Code: mcp.CodeInternal, Message: why}).Object()))
}

// withdraw tells a client that the process wants no answer any more.
func (p *peer) withdraw(message []byte) {
	id := mcp.CancelledID(message)
	if id == nil {
		return
	}
	key := mcp.IDKey(id)
	for _, session := range p.server.sessions {
		for asked, a := range session.asks {
			if a.peer == p && mcp.IDKey(a.id) == key {
				session.settle(asked)
				a.stream.add(mcp.WithCancelledID(message, number(asked)), false)
				return
			}
		}
	}
}
