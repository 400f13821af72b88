package routing

import (
	"slices"
	"sync/atomic"
	"time"

	"berth/internal/mcp"
)

// eraMemory is how long a pool goes by what an upstream has shown not to speak. An upstream
// that was upgraded meanwhile is found again after it, at no client's expense.
const eraMemory = time.Minute

// eras is what an upstream has shown of the eras that it speaks, by mcp.Era.
type eras struct {
	speaks  [2]atomic.Bool
	foreign [2]atomic.Int64 // until when, in Unix nanoseconds, it is taken for one that does not
}

func (e *eras) isForeign(era mcp.Era) bool {
	until := e.foreign[era].Load()
	return until != 0 && time.Now().UnixNano() < until
}

func (e *eras) forget() {
	for era := range e.foreign {
		e.speaks[era].Store(false)
		e.foreign[era].Store(0)
	}
}

// Speaks notes that u has served unbound work of an era that the upstreams in refused had
// refused as one that they do not speak: what one of a pool takes and another does not tells
// them apart, and a refusal alone may be the request's fault.
func (p *Pool) Speaks(u *Upstream, era mcp.Era, refused []*Upstream) {
	if e := &u.eras; !e.speaks[era].Load() || e.foreign[era].Load() != 0 {
		e.speaks[era].Store(true)
		e.foreign[era].Store(0)
		p.nobody[era].Store(0)
	}
	for _, other := range refused {
		p.isForeign(other, era)
	}
}

func (p *Pool) isForeign(u *Upstream, era mcp.Era) {
	e := &u.eras
	e.speaks[era].Store(false)
	if e.foreign[era].Swap(time.Now().Add(eraMemory).UnixNano()) == 0 {
		p.log.Info("upstream does not speak the era of some calls", "pool", p.name, "upstream", u.Name, "era", era.String())
	}
}

// Refused reports whether another upstream may take unbound work that those in refused have
// refused as of an era that they do not speak. If that is all of the pool, nobody speaks it
// for now.
func (p *Pool) Refused(era mcp.Era, refused []*Upstream) (another bool) {
	if time.Now().UnixNano() < p.nobody[era].Load() {
		return false
	}
	all := true
	for _, u := range p.upstreams {
		if u.Draining || slices.Contains(refused, u) {
			continue
		}
		all = false
		another = another || !u.eras.isForeign(era)
	}
	if all {
		p.nobody[era].Store(time.Now().Add(eraMemory).UnixNano())
	}
	return another
}

// SpokenElsewhere reports whether another upstream than u that gets new work has shown that
// it speaks an era.
func (p *Pool) SpokenElsewhere(u *Upstream, era mcp.Era) bool {
	return slices.ContainsFunc(p.upstreams, func(other *Upstream) bool {
		return other != u && !other.Draining && other.eras.speaks[era].Load()
	})
}
