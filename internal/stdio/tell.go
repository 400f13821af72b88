package stdio

import (
	"bytes"
	"errors"

	"berth/internal/mcp"
	"berth/internal/stdio/process"
)

// tell gives the process what a client sends and nobody answers. It refuses an answer that the process has no room for.
func (s *Server) tell(session *session, c *mcp.Call, raw []byte) *mcp.Error {
	p := session.peer
	switch {
	case c.Kind == mcp.KindResponse:
		return session.answer(c.ID, raw)
	case c.Method == mcp.MethodInitialized:
		p.initialize()
	case c.Method == mcp.MethodCancelled:
		s.cancel(session, raw)
	default:
		p.initialize()
		p.push(session, bytes.Clone(raw))
	}
	return nil
}

// answer gives the process a client's answer, under its own id. A second answer, or one to
// another's question, is dropped: clients may repeat themselves. The question stays open where the process does not read.
func (s *session) answer(id, raw []byte) *mcp.Error {
	asked, _ := numbered(id)
	a := s.asks[asked]
	if a == nil {
		return nil
	}
	if errors.Is(a.peer.push(s, mcp.WithID(raw, a.id)), process.ErrFull) {
		return errBusy
	}
	s.settle(asked)
	return nil
}
