package audit

import (
	"strings"

	"berth/internal/series"
	"berth/sticky"
)

// fate is where a request went, and what came of it.
type fate struct {
	source              sticky.Source
	upstream, movedFrom string
	status, code        int
	outcome             string
}

// fateOf is that of a request that ended so.
func fateOf(r *Record, e end) fate {
	return fate{r.Source, r.Upstream, r.MovedFrom, r.Status, r.Code, e.outcome}
}

// fill adds it to a line.
func (f *fate) fill(l *line) {
	if f.source != "" {
		l.set("source", string(f.source))
	}
	l.add("upstream", f.upstream)
	l.add("moved_from", f.movedFrom)
	l.count("status", int64(f.status))
	if f.code != 0 {
		l.count("code", int64(f.code))
	}
	l.set("outcome", f.outcome)
}

// number is its place among portions.
func (f *fate) number() uint {
	return series.PlaceOf(string(f.source)) + 3*series.PlaceOf(f.upstream) + uint(f.status)
}

// size is that of its texts which others have worded.
func (f *fate) size() int { return len(f.upstream) + len(f.movedFrom) }

// clone pins no request.
func (f *fate) clone() fate {
	kept := *f
	kept.upstream, kept.movedFrom = strings.Clone(f.upstream), strings.Clone(f.movedFrom)
	return kept
}
