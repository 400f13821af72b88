package legacyface

import (
	"bytes"
	"strings"

	"berth/internal/mcp"
)

// maxQuestions bounds the server's questions that are open in a session.
const maxQuestions = 256

// Hear implements Listener.
func (s *session) Hear(message []byte) {
	for one, err := range mcp.Messages(message) {
		if err != nil {
			return // it is no message; those before it stand
		}
		s.hear(bytes.TrimSpace(one))
	}
}

// HearLong implements Listener.
func (s *session) HearLong(head, end []byte) (isResponse bool) {
	a, err := mcp.PeekAnswer(head, true)
	if err != nil || a.Method != "" || !a.HasResult && !a.IsError {
		return false
	}
	id := a.ID
	if id == nil {
		id = mcp.LastID(end)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.answered(id); c != nil {
		s.finish(c, errTooLong.Body(c.id), nil)
	}
	return id != nil
}

func (s *session) hear(message []byte) {
	a, err := mcp.PeekAnswer(message, false)
	if err != nil && a.ID == nil { // it stands behind what cannot be read
		a.ID = mcp.ID(message)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
	case err != nil:
		s.garbled(a.ID)
	case a.IsNobodys() && a.ErrorCode == mcp.CodeParse:
		s.unread(message)
	case a.Method == "":
		s.respond(a.ID, message)
	case a.HasID():
		s.question(a, message)
	default:
		s.notify(a.Method, message)
	}
}

// respond gives a response to the call that it answers. What answers none comes too late.
func (s *session) respond(id, message []byte) {
	if c := s.answered(id); c != nil {
		s.finish(c, mcp.WithID(message, c.id), nil)
	}
}

// unread ends the one call under way, which the server cannot read: of that it knows no id. Of several it could be any.
func (s *session) unread(message []byte) {
	if len(s.calls) != 1 {
		return
	}
	for _, c := range s.calls {
		s.finish(c, mcp.ErrorResponse(c.id, mcp.ErrorObject(message)), nil)
	}
}

// answered returns the call that the server answers by this raw id, nil for none: some make a string of it.
func (s *session) answered(id []byte) *call { return s.calls[strings.Trim(mcp.IDKey(id), `"`)] }

// garbled ends the call that a message answers which cannot be read.
func (s *session) garbled(id []byte) {
	if c := s.answered(id); c != nil {
		why := LostBecause(mcp.ReasonBadUpstream, "the server's answer cannot be read")
		s.finish(c, why.Body(c.id), why)
	}
}

// question puts a request of the server's to the client, where somebody is there to be asked.
func (s *session) question(a mcp.Answer, message []byte) {
	c := s.last(func(c *call) bool { return c.asks && c.stream != nil })
	switch {
	case len(s.questions) >= maxQuestions:
		s.refuse(a)
	case c != nil:
		asked := c.stream
		if mcp.RelatedTask(message) != "" {
			asked = s.standing // it is its task's question, which outlives the call
		}
		s.questions[mcp.IDKey(a.ID)] = asked
		c.stream.add(message)
		c.answer()
	case s.standing.isRead():
		s.questions[mcp.IDKey(a.ID)] = s.standing
		s.standing.add(message)
	default:
		s.refuse(a)
	}
}

// refuse answers a request of the server's that no client sees. A ping asks no more than that.
func (s *session) refuse(a mcp.Answer) {
	if id := bytes.Clone(a.ID); a.Method == mcp.MethodPing {
		s.reply(mcp.Response(id, []byte("{}")))
	} else {
		s.reply((&mcp.Error{Code: mcp.CodeInternal, Message: "no client listens to requests"}).Body(id))
	}
}

// notify passes a notification on to where it belongs.
func (s *session) notify(method string, message []byte) {
	switch method {
	case mcp.MethodProgress:
		s.progress(message)
	case mcp.MethodCancelled:
		key := mcp.IDKey(mcp.CancelledID(message))
		if asked := s.questions[key]; asked != nil {
			delete(s.questions, key)
			asked.add(message)
		}
	default:
		s.standing.add(message)
	}
}

// progress is of a call, or of a task that one has left behind. Some servers make a string of a number, or a number of a string: its client
// knows the token as it gave it.
func (s *session) progress(message []byte) {
	p, _ := mcp.PeekProgress(message)
	token := mcp.IDKey(p.Token)
	c := s.last(func(c *call) bool { return c.token == token && c.stream != nil })
	if bare := strings.Trim(token, `"`); c == nil && bare != "" {
		if c = s.last(func(c *call) bool { return strings.Trim(c.token, `"`) == bare && c.stream != nil }); c != nil {
			message = mcp.WithProgressToken(message, []byte(c.token))
		}
	}
	if token == "" || c == nil {
		s.standing.add(message)
		return
	}
	c.stream.add(message)
	c.answer()
}

// unask forgets what was asked on a stream that has ended. The caller holds mu.
func (s *session) unask(st *stream) {
	for key, asked := range s.questions {
		if asked == st {
			delete(s.questions, key)
		}
	}
}
