package stdio

import (
	"maps"
	"time"

	"berth/internal/crowd"
)

// maxSessions bounds the sessions of a server: those that share a process cost no place.
const maxSessions = 10_000

// endedAtOnce is how many sessions make room where there is none, so that the next ones have some as well.
const endedAtOnce = 100

// makeRoom reports whether another session may be opened. Where there are as many as may be, those end that crowd.Unused has.
func (s *Server) makeRoom(now time.Time) bool {
	if len(s.sessions) < maxSessions {
		return true
	}
	awaited := s.awaited(now)
	unused := func(session *session) (time.Time, bool) {
		_, read, _, _, _ := session.standing.state()
		return session.touched, !read && len(session.calls) == 0 && !awaited[session]
	}
	for _, session := range crowd.Unused(maps.Values(s.sessions), func(session *session) string { return session.caller }, unused, endedAtOnce) {
		s.endSession(session)
	}
	return len(s.sessions) < maxSessions
}

// awaited are the sessions with a task that is waited for.
func (s *Server) awaited(now time.Time) map[*session]bool {
	all := map[*session]bool{}
	for p := range s.peers {
		for _, made := range p.tasks {
			if now.Before(made.awaited) {
				all[made.session] = true
			}
		}
	}
	return all
}
