package routing

import (
	"slices"
	"time"

	"berth/internal/mcp"
	"berth/routing/profile"
)

// eraMemory is how long a pool goes by what an upstream has shown not to speak. An upstream
// that was upgraded meanwhile is found again after it, at no client's expense.
const eraMemory = time.Minute

// Speaks notes that u has served unbound work of an era that the upstreams in refused had
// refused as one that they do not speak: what one of a pool takes and another does not tells
// them apart, and a refusal alone may be the request's fault.
func (p *Pool) Speaks(u *Upstream, era mcp.Era, refused []*Upstream) {
	if u.profile.Serves(era) {
		p.nobody[era].Store(0)
	}
	for _, other := range refused {
		if other.profile.Refuses(era, time.Now().Add(eraMemory)) {
			p.log.Info("upstream does not speak the era of some calls", "pool", p.name, "upstream", other.Name, "era", era.String())
		}
	}
}

// Refused reports whether another upstream may take unbound work that those in refused have
// refused as of an era that they do not speak. If that is all of the pool, nobody speaks it
// for now.
func (p *Pool) Refused(era mcp.Era, refused []*Upstream) (another bool) {
	now := time.Since(p.began)
	if int64(now) < p.nobody[era].Load() {
		return false
	}
	all := true
	for _, u := range p.Upstreams() {
		if u.IsDraining() || slices.ContainsFunc(refused, u.Is) {
			continue
		}
		all = false
		another = another || !u.Profile().IsForeign(era)
	}
	if all {
		p.nobody[era].Store(int64(now + eraMemory))
	}
	return another
}

// Demand notes that u has refused unbound work of the legacy era for its want of a session. It returns who demands one as far as is known,
// and whether another upstream is left that may take the work. refused have refused it besides.
func (p *Pool) Demand(u *Upstream, refused []*Upstream) (demanding []*Upstream, another bool) {
	u.NoteSessions(profile.SessionsDemanded)
	for _, other := range p.Upstreams() {
		switch {
		case other.Profile().Sessions == profile.SessionsDemanded:
			demanding = append(demanding, other)
		case !other.IsDraining() && !slices.ContainsFunc(refused, other.Is):
			another = true
		}
	}
	return demanding, another
}

// SpokenElsewhere reports whether another upstream than u that gets new work has shown that
// it speaks an era.
func (p *Pool) SpokenElsewhere(u *Upstream, era mcp.Era) bool {
	return slices.ContainsFunc(p.Upstreams(), func(other *Upstream) bool {
		return !other.Is(u) && !other.IsDraining() && other.Profile().Speaks[era]
	})
}
