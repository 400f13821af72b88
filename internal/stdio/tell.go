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
		return s.settle(session, c.ID, raw)
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

// settle gives the process a client's answer, under its own id. A second answer, or one to
// another's question, is dropped: clients may repeat themselves. The question stays open where the process does not read.
func (s *Server) settle(session *session, id, raw []byte) *mcp.Error {
	asked, _ := numbered(id)
	a := session.asks[asked]
	if a == nil {
		return nil
	}
	if errors.Is(a.peer.push(session, mcp.WithID(raw, a.id)), process.ErrFull) {
		return errBusy
	}
	session.settle(asked)
	return nil
}
