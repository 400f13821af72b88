package legacyface

import (
	"slices"
	"time"

	"berth/internal/mcp"
)

// endedAtOnce is the share of all sessions, as a divisor, that make room where there is none, so that the next ones have some as well.
const endedAtOnce = 100

var crowdedOut = LostBecause(mcp.ReasonSessionLost, "nobody has used the session for longer than others, and there was no room")

// crowded takes those out of a full face that make room for others: of whoever has most sessions, those that were not used for the longest
// time, and that nobody waits for. The caller holds mu, and ends them without it.
func (f *Face) crowded() (out []*session) {
	greedy := f.greediest()
	since := map[*session]time.Time{}
	for _, s := range f.sessions {
		if used, is := s.unused(); is && s.caller == greedy {
			out, since[s] = append(out, s), used
		}
	}
	slices.SortFunc(out, func(a, b *session) int { return since[a].Compare(since[b]) })
	out = out[:min(len(out), f.maxSessions/endedAtOnce+1)]
	for _, s := range out {
		delete(f.sessions, s.id)
	}
	return out
}

// greediest is the caller that has most sessions. The caller of this holds mu.
func (f *Face) greediest() (caller string) {
	counts := map[string]int{}
	for _, s := range f.sessions {
		if counts[s.caller]++; counts[s.caller] > counts[caller] {
			caller = s.caller
		}
	}
	return caller
}

// unused reports whether the session stands with no call and no listener, and since when.
func (s *session) unused() (since time.Time, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, s.line != nil && !s.over && len(s.calls) == 0 && !s.standing.isRead()
}
