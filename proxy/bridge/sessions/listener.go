package sessions

// Listener hears what the upstream tells on the streams of sessions that is of no call. It may not call the registry.
type Listener interface {
	Hear(from *Session, message []byte)
	Lose() // its own session, or what is told there
}

// Subscribe has one hear all sessions of a caller's, and know of the loss of its own. It returns those that are there:
// the listener sees to it that their streams are read.
func (reg *Registry) Subscribe(whose string, own *Session, li Listener) (sessions []*Session) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	if reg.listeners[whose] == nil {
		reg.listeners[whose] = map[Listener]*Session{}
	}
	reg.listeners[whose][li] = own
	return reg.sessionsOf(whose)
}

// Unsubscribe undoes Subscribe. What nobody uses is not listened to any more.
func (reg *Registry) Unsubscribe(whose string, li Listener) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	delete(reg.listeners[whose], li)
	if len(reg.listeners[whose]) > 0 {
		return
	}
	delete(reg.listeners, whose)
	for _, l := range reg.sessionsOf(whose) {
		if l.users == 0 {
			l.cover()
		}
	}
}

// misses has those who listen by a session end: what is told there is not heard, or was not. The caller holds reg.mu.
func (reg *Registry) misses(l *Session) {
	if l.shelf == nil {
		return
	}
	for li, own := range reg.listeners[l.shelf.whose] {
		if own == l {
			li.Lose()
		}
	}
}

// sessionsOf are the sessions of a caller. The caller holds reg.mu.
func (reg *Registry) sessionsOf(whose string) (sessions []*Session) {
	for _, s := range reg.shelves {
		if s.whose == whose {
			sessions = append(sessions, s.loans...)
		}
	}
	return sessions
}
