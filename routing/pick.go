package routing

import (
	"cmp"
	"slices"

	"berth/internal/mcp"
)

// Work is unbound work, as far as it matters to who gets it.
type Work struct {
	Era    mcp.Era
	Prefer string // the upstream that gets it, if it is fit for new work; "": none
	Key    string // equal ones belong together, for pickers that go by it; "": none
	Caller string // whose it is; callers take turns where work waits
}

// Pick takes a lease for unbound work on an upstream that is not in tried: the one that the work
// prefers, if it is fit for new work, or the picker's choice. With none fit left it uses those
// that are ejected, silent or fail their checks; draining ones never. Those that have shown that
// they do not speak the era come last. It does not wait: with no room left anywhere it goes beyond the
// bound. Error: ErrNoUpstream.
func (p *Pool) Pick(w Work, tried []*Upstream) (*Lease, error) {
	s, m := p.settings.Load(), p.members.Load()
	if m.isBounded(s) {
		return p.room.squeeze(s, m, w, tried)
	}
	u := p.selection.choose(s, m, w, tried)
	if u == nil {
		return nil, ErrNoUpstream
	}
	return newLease(u), nil
}

// Home names the upstream that would get the work now because of what it is, not of what
// upstreams have to do; "" is any.
func (p *Pool) Home(w Work) string {
	s, m := p.settings.Load(), p.members.Load()
	if _, keeps := s.Picker.(Rendezvous); !keeps || w.Key == "" || w.Prefer != "" {
		return w.Prefer
	}
	return cmp.Or(p.selection.choose(s, m, w, nil), nobody).Name
}

var nobody = new(Upstream)

// TakesWork reports whether unbound work goes anywhere: Pick gives it to whoever does not drain.
func (p *Pool) TakesWork() bool {
	return slices.ContainsFunc(p.Upstreams(), func(u *Upstream) bool { return !u.IsDraining() })
}

// candidates are the upstreams of the lowest rank, but for those in tried; or the preferred one,
// if it is fit.
func (m *members) candidates(era mcp.Era, prefer string, tried []*Upstream) (best []*Upstream, preferred *Upstream) {
	all := m.all
	lowest, from := ranks, 0 // best is a part of all, from there on, as long as it can be
	for i, u := range all {
		if u.IsDraining() || len(tried) > 0 && slices.ContainsFunc(tried, u.Is) {
			continue
		}
		rank := u.rank(era)
		switch {
		case rank <= spare && u.Name == prefer:
			return nil, u
		case rank < lowest:
			lowest, best, from = rank, all[i:i+1:i+1], i
		case rank == lowest && from+len(best) == i:
			best = all[from : i+1 : i+1]
		case rank == lowest:
			best, from = append(best, u), -len(all)
		}
	}
	return best, nil
}

// How willingly an upstream is given unbound work: each doubt is worse than all before it.
const (
	fit     = 0
	spare   = 1 // a backup
	unfit   = 2 // ejected, silent, or failing its checks
	foreign = 4 // to the era of the work
	ranks   = 8
)

func (u *Upstream) rank(era mcp.Era) int {
	rank := fit
	if u.Backup {
		rank += spare
	}
	if u.health.IsUnfit() {
		rank += unfit
	}
	if u.Profile().IsForeign(era) {
		rank += foreign
	}
	return rank
}
