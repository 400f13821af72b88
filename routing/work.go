package routing

import (
	"cmp"

	"berth/internal/mcp"
)

// Work is unbound work, as far as it matters to who gets it.
type Work struct {
	Era    mcp.Era
	Prefer string // the upstream that gets it, if it is fit for new work; "": none
	Key    string // equal ones belong together, for pickers that go by it; "": none
	Caller string // whose it is; callers take turns where work waits
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
