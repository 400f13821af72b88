package stdio

import (
	"bytes"

	"berth/internal/mcp"
)

// tell gives the process what a client sends and nobody answers.
func (s *Server) tell(session *session, c *mcp.Call, raw []byte) {
	p := session.peer
	switch {
	case c.Kind == mcp.KindResponse:
		s.settle(session, c.ID, raw)
	case c.Method == mcp.MethodInitialized:
		p.initialize()
	case c.Method == mcp.MethodCancelled:
		s.cancel(session, raw)
	default:
		p.initialize()
		p.push(bytes.Clone(raw))
	}
}

// settle gives the process a client's answer, under its own id. A second answer, or one to
// another's question, is dropped: clients may repeat themselves.
func (s *Server) settle(session *session, id, raw []byte) {
	asked, ok := numbered(id)
	if !ok {
		return
	}
	if a := session.settle(asked); a != nil {
		a.peer.push(mcp.WithID(raw, a.id))
	}
}
