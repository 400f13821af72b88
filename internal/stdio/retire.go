package stdio

import "time"

// Retires reports whether what is new is to begin in another session than this one, as a caller of 2026-07-28 has it begin: its process
// does not answer, has lived long enough, or may ask for a call that was left, and another may be started.
func (s *Server) Retires(session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, now := s.sessions[session], time.Now()
	return at != nil && (at.peer.silent || at.peer.isOld(now) || at.peer.left.keepsOut()) && s.mayStart(now)
}

// Retires is Server.Retires of who has the session. One of before the options changed retires, too.
func (i *Instance) Retires(session string) bool {
	now, at := i.newest(), i.serverOf(session)
	if at == now {
		return at.Retires(session)
	}
	now.mu.Lock()
	defer now.mu.Unlock()
	return now.mayStart(time.Now())
}

// mayStart reports whether a process may be started now.
func (s *Server) mayStart(now time.Time) bool { return s.noRoom() == nil && s.breaker.allows(now) }
