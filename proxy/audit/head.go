package audit

import (
	"strings"

	"berth/internal/mcp"
	"berth/internal/series"
)

// head is what begins the lines of most requests alike.
type head struct {
	http, path, method, pool, version string // as they came
	era                               mcp.Era
}

// headOf is that of a request.
func headOf(r *Record) head {
	c := r.call
	return head{c.HTTP.Method, c.HTTP.URL.Path, method(c), c.PoolName(), c.Version(), c.Era()}
}

// fill adds it to a line.
func (h *head) fill(l *line) {
	l.put("http", h.http)
	l.put("path", h.path)
	l.put("method", h.method)
	l.set("era", h.era.String())
	l.add("pool", h.pool)
	l.add("version", h.version)
}

// number is its place among portions.
func (h *head) number() uint {
	return series.PlaceOf(h.pool) + 3*series.PlaceOf(h.method) + 7*series.PlaceOf(h.version)
}

// size is that of its texts which others have worded.
func (h *head) size() int {
	return len(h.http) + len(h.path) + len(h.method) + len(h.pool) + len(h.version)
}

// clone pins no request.
func (h *head) clone() head {
	return head{strings.Clone(h.http), strings.Clone(h.path), strings.Clone(h.method), h.pool, strings.Clone(h.version), h.era}
}
