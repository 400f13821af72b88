package audit

import (
	"strings"

	"berth/internal/series"
)

// sender is what program sent a request, and how often it was sent on. Its address is no part of it: there may be as many as clients.
type sender struct {
	attempts      int
	holder, agent string
}

// senderOf is that of a request.
func senderOf(r *Record) sender {
	return sender{r.attempts, r.Holder, r.call.HTTP.Header.Get("User-Agent")}
}

// fill adds it to a line.
func (s *sender) fill(l *line) {
	if s.attempts > 0 {
		l.count("attempts", int64(s.attempts))
	}
	l.add("holder", s.holder)
	l.add("agent", s.agent)
}

// number is its place among portions.
func (s *sender) number() uint {
	return uint(s.attempts) + 3*series.PlaceOf(s.agent)
}

// size is that of its texts which others have worded.
func (s *sender) size() int { return len(s.holder) + len(s.agent) }

// clone pins no request.
func (s *sender) clone() sender {
	return sender{s.attempts, strings.Clone(s.holder), strings.Clone(s.agent)}
}
