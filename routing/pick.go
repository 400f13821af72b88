package routing

import (
	"slices"

	"berth/internal/mcp"
)

// Pick takes a lease for unbound work of an era on an upstream that is not in tried:
// prefer, if it is fit for new work, or the picker's choice. With none fit left
// it uses those that are ejected or silent; draining ones never. Those that have shown that
// they do not speak the era come last.
func (p *Pool) Pick(era mcp.Era, prefer string, tried []*Upstream) (*Lease, error) {
	u := p.choose(era, prefer, tried)
	if u == nil {
		return nil, ErrNoUpstream
	}
	return newLease(u), nil
}

// choose returns Pick's choice; nil: there is none.
func (p *Pool) choose(era mcp.Era, prefer string, tried []*Upstream) *Upstream {
	all := p.Upstreams()
	lowest, best, from := ranks, []*Upstream(nil), 0 // best is a part of all, from there on, as long as it can be
	for i, u := range all {
		if u.IsDraining() || len(tried) > 0 && slices.ContainsFunc(tried, u.Is) {
			continue
		}
		rank := u.rank(era)
		switch {
		case rank == fit && u.Name == prefer:
			return u
		case rank < lowest:
			lowest, best, from = rank, all[i:i+1:i+1], i
		case rank == lowest && from+len(best) == i:
			best = all[from : i+1 : i+1]
		case rank == lowest:
			best, from = append(best, u), -len(all)
		}
	}
	if len(best) == 0 {
		return nil
	}
	return p.picker.Pick(best)
}

// How willingly an upstream is given unbound work: what it is unfit for is worse than any trouble.
const (
	fit     = 0
	unfit   = 1 // ejected or silent
	foreign = 2 // to the era of the work
	ranks   = 4
)

func (u *Upstream) rank(era mcp.Era) int {
	rank := fit
	if c := u.health.is(); c != well && (c.silent() || c.ejected()) {
		rank += unfit
	}
	if u.Profile().isForeign(era) {
		rank += foreign
	}
	return rank
}
