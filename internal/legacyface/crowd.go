package legacyface

import (
	"maps"
	"time"

	"berth/internal/crowd"
	"berth/internal/mcp"
)

// endedAtOnce is the share of all sessions, as a divisor, that make room where there is none, so that the next ones have some as well.
const endedAtOnce = 100

var crowdedOut = LostBecause(mcp.ReasonSessionLost, "nobody has used the session for longer than others, and there was no room")

// crowded takes those out of a full face that make room for others. The caller holds mu, and ends them without it.
func (f *Face) crowded() []*session {
	out := crowd.Unused(maps.Values(f.sessions), func(s *session) string { return s.caller }, (*session).unused, f.maxSessions/endedAtOnce+1)
	for _, s := range out {
		delete(f.sessions, s.id)
	}
	return out
}

// unused reports whether the session stands with no call and no listener, and since when.
func (s *session) unused() (since time.Time, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, s.conn != nil && !s.over && len(s.calls) == 0 && !s.standing.isRead()
}
