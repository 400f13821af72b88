package stdio

import (
	"maps"
	"strings"
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
	awaited := s.peers.awaited(now)
	unused := func(session *session) (time.Time, bool) {
		return session.touched, session.isUnused(awaited)
	}
	for _, session := range crowd.Unused(maps.Values(s.sessions), func(session *session) string { return session.caller }, unused, endedAtOnce) {
		s.endSession(session)
	}
	return len(s.sessions) < maxSessions
}

// makePlace ends a process that nobody uses, where as many run as may, for one of this caller's: one without sessions that a call which was
// left keeps them out of, or one of another caller who has more than half of them, and several. It is closed when that has ended; nil: none is.
func (s *Server) makePlace(caller string, now time.Time) <-chan struct{} {
	if s.closing || len(s.peers) < s.options.MaxProcesses || !s.breaker.allows(now) {
		return nil
	}
	has := map[string]int{}
	for p := range s.peers {
		if !p.stopping {
			has[whose(p.caller)]++
		}
	}
	awaited := s.peers.awaited(now)
	var unused *peer
	for p := range s.peers {
		greedy := whose(p.caller)
		isTheirs := greedy != "" && greedy != whose(caller) && has[greedy] > max(s.options.MaxProcesses/2, 1)
		if (isTheirs || load(p) == 0 && p.left.keepsOut()) && p.isUnused(awaited) && (unused == nil || usedLast(p).Before(usedLast(unused))) {
			unused = p
		}
	}
	if unused == nil {
		return nil
	}
	unused.stop("another caller needs its place")
	return unused.process.Done()
}

// whose is the caller that the bridge makes several of, one for what its client declares and each process that it needs (sessions.Borrower).
func whose(caller string) string {
	one, _, _ := strings.Cut(caller, "{")
	return one
}

// isUnused reports whether the process runs, and no session of it is in use, nor about to be opened.
func (p *peer) isUnused(awaited map[*session]bool) bool {
	if p.alone || p.trial || p.opens > 0 || p.stopping || p.over || !p.isReady() {
		return false
	}
	for session := range p.sessions {
		if !session.isUnused(awaited) {
			return false
		}
	}
	return true
}

// usedLast is when a client last said something in a session of the process, or the last of them ended.
func usedLast(p *peer) time.Time {
	last := p.touched
	for session := range p.sessions {
		if session.touched.After(last) {
			last = session.touched
		}
	}
	return last
}

// isUnused reports whether nobody listens in the session, and it has no calls, and no task that is awaited.
func (s *session) isUnused(awaited map[*session]bool) bool {
	_, read, _, _, _ := s.standing.state()
	return !read && len(s.calls) == 0 && !awaited[s]
}

// awaited are the sessions with a task that is waited for.
func (all peers) awaited(now time.Time) map[*session]bool {
	sessions := map[*session]bool{}
	for p := range all {
		for _, made := range p.tasks {
			if now.Before(made.awaited) {
				sessions[made.session] = true
			}
		}
	}
	return sessions
}
