package stdio

import "time"

// keepSweeping looks, while processes run, for what nobody uses.
func (s *Server) keepSweeping() {
	if s.sweeping == nil {
		s.sweeping = time.AfterFunc(s.timing.sweep, s.sweep)
	}
}

func (s *Server) sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweeping = nil
	now := time.Now()
	for _, session := range s.sessions {
		session.forgetStreams(now.Add(-s.timing.kept))
		if !session.inUse(now, s.timing.unread) && session.peer.key != "" {
			s.endSession(session)
		}
	}
	for p := range s.peers {
		switch {
		case p.alone, p.opens > 0, !p.isReady():
		case len(p.sessions) == 0 && p.isOld(now):
			p.stop("it has lived long enough")
		case len(p.sessions) == 0 && p.silent:
			p.stop("it does not answer")
		case load(p) == 0 && p.left.keepsOut():
			p.stop("a call that was left may ask in it")
		case !p.inUse(now):
			p.stop("nobody uses it")
		}
	}
	if len(s.peers) > 0 && !s.closing {
		s.keepSweeping()
	}
}

// inUse reports whether somebody waits for the process, or did a while ago.
func (p *peer) inUse(now time.Time) bool {
	idle := p.server.options.Idle
	for session := range p.sessions {
		if session.inUse(now, idle) {
			return true
		}
	}
	return now.Sub(p.touched) < idle
}

// inUse reports whether the session's client listens, or was heard a while ago.
func (s *session) inUse(now time.Time, idle time.Duration) bool {
	if _, read, left, _, _ := s.standing.state(); read || now.Sub(left) < idle {
		return true
	}
	for c := range s.calls {
		if c.isAwaited(now, s.peer.server.timing.unread) {
			return true
		}
	}
	return now.Sub(s.touched) < idle
}

// isAwaited reports whether somebody reads a call's answer, or may come back to it.
func (c *call) isAwaited(now time.Time, unread time.Duration) bool {
	if c.stream == nil {
		return now.Sub(c.begun) < unread
	}
	_, read, left, _, _ := c.stream.state()
	return read || now.Sub(left) < unread
}
