package sessions

// Listener hears what the upstream tells on the streams of sessions that is of no call. It may not call the pool.
type Listener interface {
	Hear(from *Session, message []byte)
	Lose() // its own session, or what is told there
}

// Subscribe has one hear all sessions of a caller's, and know of the loss of its own. It returns those that are there:
// the listener sees to it that their streams are read.
func (p *Pool) Subscribe(whose string, own *Session, li Listener) (sessions []*Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listeners[whose] == nil {
		p.listeners[whose] = map[Listener]*Session{}
	}
	p.listeners[whose][li] = own
	return p.sessionsOf(whose)
}

// Unsubscribe undoes Subscribe. What nobody uses is not listened to any more.
func (p *Pool) Unsubscribe(whose string, li Listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.listeners[whose], li)
	if len(p.listeners[whose]) > 0 {
		return
	}
	delete(p.listeners, whose)
	for _, l := range p.sessionsOf(whose) {
		if l.users == 0 {
			l.cover()
		}
	}
}

// misses has those who listen by a session end: what is told there is not heard, or was not. The caller holds p.mu.
func (p *Pool) misses(l *Session) {
	if l.shelf == nil {
		return
	}
	for li, own := range p.listeners[l.shelf.whose] {
		if own == l {
			li.Lose()
		}
	}
}

// sessionsOf are the sessions of a caller. The caller holds p.mu.
func (p *Pool) sessionsOf(whose string) (sessions []*Session) {
	for _, s := range p.shelves {
		if s.whose == whose {
			sessions = append(sessions, s.loans...)
		}
	}
	return sessions
}
