package stdio

import (
	"slices"
	"time"
)

// maxSessions bounds the sessions of a server: those that share a process cost no place.
const maxSessions = 10_000

// endedAtOnce is how many sessions make room where there is none, so that the next ones have some as well.
const endedAtOnce = 100

// makeRoom reports whether another session may be opened. Where there are as many as may be, whoever has most of them loses those that
// were not used for the longest time, and that nobody waits for.
func (s *Server) makeRoom(now time.Time) bool {
	if len(s.sessions) < maxSessions {
		return true
	}
	unused := s.unused(s.greediest(), now)
	slices.SortFunc(unused, func(a, b *session) int { return a.touched.Compare(b.touched) })
	for _, session := range unused[:min(len(unused), endedAtOnce)] {
		s.endSession(session)
	}
	return len(s.sessions) < maxSessions
}

// greediest is the caller that has most sessions.
func (s *Server) greediest() (caller string) {
	counts := map[string]int{}
	for _, session := range s.sessions {
		if counts[session.caller]++; counts[session.caller] > counts[caller] {
			caller = session.caller
		}
	}
	return caller
}

// unused are the sessions of a caller with no call, no listener, and no task that is waited for.
func (s *Server) unused(caller string, now time.Time) (all []*session) {
	awaited := map[*session]bool{}
	for p := range s.peers {
		for _, made := range p.tasks {
			awaited[made.session] = awaited[made.session] || now.Before(made.awaited)
		}
	}
	for _, session := range s.sessions {
		_, read, _, _, _ := session.standing.state()
		if session.caller == caller && !read && len(session.calls) == 0 && !awaited[session] {
			all = append(all, session)
		}
	}
	return all
}
