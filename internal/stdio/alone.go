package stdio

import "berth/internal/mcp"

// beginAlone gives a call a process of its own.
func (s *Server) beginAlone(c *call, body []byte) *mcp.Error {
	p, refused := s.newPeer(c.session.peer.opening, nil)
	if refused != nil {
		return refused
	}
	p.alone, p.caller = true, c.session.caller
	if refused := p.register(c); refused != nil {
		return refused
	}
	go s.dispatchAlone(p, c, body)
	return nil
}

// setLevel has the process log as its session's client wished, if it did.
func (p *peer) setLevel(level string) {
	own := &call{method: mcp.MethodSetLevel, answer: make(chan []byte, 1)} // nobody waits for the answer
	if level != "" && p.register(own) == nil {
		p.initialize()
		_ = p.dispatch(own, atLevel(level))
	}
}

// dispatchAlone sends the call once its process is ready. What keeps the process from that fails
// the call.
func (s *Server) dispatchAlone(p *peer, c *call, body []byte) {
	<-p.ready
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case p.calls[c.number] != c: // it was answered in another way
	case p.refusal != nil:
		p.finish(c, mcp.ErrorResponse(c.id, p.refusal))
	case c.cancelled:
		p.finish(c, failed("the client cancelled the call", ReasonCancelled, mcp.NotExecuted).Body(c.id))
	default:
		p.setLevel(c.session.level)
		if refused := p.dispatch(c, body); refused != nil {
			p.finish(c, refused.Body(c.id))
		}
	}
}
