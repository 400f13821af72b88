package routing

import "maps"

// members are a pool's upstreams at one time. They do not change.
type members struct {
	all    []*Upstream // what the picker is given, while all are fit
	byName map[string]*Upstream
}

func newMembers(all []*Upstream) *members {
	m := &members{all: all, byName: make(map[string]*Upstream, len(all))}
	for _, u := range all {
		m.byName[u.Name] = u
	}
	return m
}

// Replace makes these the pool's upstreams, for all who choose one or look for one from now
// on. Their names differ, and the pool takes them over. What is under way at an upstream, what
// counts against it and its profile stay with its name; its address, and whether it drains, are
// as this list has them. Who holds a lease on one that left keeps it; what that one owned has no
// owner in the pool. One that comes back is the one that left if something is still under way
// there, and a new one otherwise.
func (p *Pool) Replace(upstreams []*Upstream) {
	p.changing.Lock()
	defer p.changing.Unlock()
	before := p.members.Load().byName
	p.become(upstreams)
	after := p.members.Load().byName
	if joined, left := without(after, before), without(before, after); len(joined)+len(left) > 0 {
		p.log.Info("upstreams replaced", "pool", p.name, "joined", joined, "left", left)
	}
}

// become makes these the members, under p.changing.
func (p *Pool) become(upstreams []*Upstream) {
	all := make([]*Upstream, len(upstreams))
	for i, u := range upstreams {
		all[i] = p.adopt(u)
	}
	next := newMembers(all)
	p.members.Store(next)
	maps.DeleteFunc(p.known, func(name string, l *live) bool { return next.byName[name] == nil && l.inflight.Load() == 0 })
}

// adopt returns u with what is known of its name.
func (p *Pool) adopt(u *Upstream) *Upstream {
	switch known := p.known[u.Name]; {
	case known == nil && u.live == nil:
		u.live = new(live)
	case u.live == nil:
		u.live = known
	case known != nil && known != u.live: // it has left this pool before, and others hold it as it is
		u = &Upstream{Name: u.Name, URL: u.URL, Draining: u.Draining, Era: u.Era, live: known}
	}
	p.known[u.Name] = u.live
	u.drain.set(p.drains[u.Name])
	return u
}

// without returns the names of those that are not among others.
func without(some, others map[string]*Upstream) (names []string) {
	for name := range some {
		if others[name] == nil {
			names = append(names, name)
		}
	}
	return names
}
