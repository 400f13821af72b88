package audit

import (
	"strings"
	"sync/atomic"

	"berth/internal/mcp"
	"berth/internal/series"
)

// head is what begins the lines of most requests alike: its texts are compared with those of a line before, and not written
// anew.
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

// isShort reports whether it may be kept.
func (h *head) isShort() bool {
	return len(h.http)+len(h.path)+len(h.method)+len(h.pool)+len(h.version) <= clipped
}

// clone pins no request.
func (h head) clone() head {
	h.http, h.path, h.method, h.version = strings.Clone(h.http), strings.Clone(h.path), strings.Clone(h.method), strings.Clone(h.version)
	return h
}

// heads are some that were written, each as its line has it. The zero value has none. Its methods may be called concurrently.
type heads struct {
	written [64]atomic.Pointer[writtenHead] // by a number of what they say
	missed  atomic.Uint32
}

type writtenHead struct {
	head
	text string
}

// keptAfter is how many heads are not found until one is kept in another's place: what comes in turns, or is made up, costs
// no memory then.
const keptAfter = 64

// write adds a head to a line.
func (k *heads) write(l *line, h *head) {
	place := &k.written[(series.PlaceOf(h.pool)+3*series.PlaceOf(h.method)+7*series.PlaceOf(h.version))%uint(len(k.written))]
	known := place.Load()
	if known != nil && known.head == *h {
		l.text.Again(known.text)
		return
	}
	at := l.text.Len()
	h.fill(l)
	if h.isShort() && (known == nil || k.missed.Add(1)%keptAfter == 0) {
		place.Store(&writtenHead{h.clone(), l.text.Since(at)})
	}
}
