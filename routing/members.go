package routing

import (
	"time"

	"berth/routing/health"
)

// members are a pool's upstreams at one time. They do not change.
type members struct {
	all    []*Upstream // what the picker is given, while all are fit
	byName map[string]*Upstream

	even    bool // they have equal weights
	bounded bool // one has a bound of its own on what it has under way

	replaced chan struct{} // closed once others are in their place
}

func newMembers(all []*Upstream) *members {
	m := &members{all: all, byName: make(map[string]*Upstream, len(all)), even: true, replaced: make(chan struct{})}
	for _, u := range all {
		m.byName[u.Name] = u
		m.even = m.even && max(u.Weight, 1) == 1
		m.bounded = m.bounded || u.MaxInFlight > 0
	}
	return m
}

// few are so many members that one is found sooner by a look at each than by a map.
const few = 4

// find returns the member of that name, nil if there is none.
func (m *members) find(name string) *Upstream {
	if len(m.all) > few {
		return m.byName[name]
	}
	for _, u := range m.all {
		if u.Name == name {
			return u
		}
	}
	return nil
}

// drained reports whether the list has the member of that name drain.
func (m *members) drained(name string) bool {
	u := m.byName[name]
	return u != nil && u.Draining
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
	p.metrics.forget(p.become(upstreams, true))
	after := p.members.Load().byName
	joined, left := without(after, before), without(before, after)
	for _, c := range p.counted {
		c.begin(p.name, joined)
	}
	if len(joined)+len(left) > 0 {
		p.log.Info("upstreams replaced", "pool", p.name, "joined", joined, "left", left)
	}
	p.checker.again()
	p.room.letIn()
}

// become makes these the members, under p.changing, and returns the names of those that nothing is known of any more. later says that
// the pool has had others.
func (p *Pool) become(upstreams []*Upstream, later bool) (gone []string) {
	all, before := make([]*Upstream, len(upstreams)), p.members.Load()
	for i, u := range upstreams {
		all[i] = p.adopt(u, later)
		if later && !u.Draining && before.drained(u.Name) {
			p.selection.freshen(all[i].live, time.Now())
		}
	}
	next := newMembers(all)
	if before := p.members.Swap(next); before != nil {
		close(before.replaced)
	}
	for _, u := range all { // who leaves one that drains is to find the others
		u.drain.list(u.Draining)
	}
	for name, l := range p.known {
		if next.byName[name] == nil && !l.isBusy() {
			delete(p.known, name)
			gone = append(gone, name)
		}
	}
	return gone
}

// adopt returns u with what is known of its name.
func (p *Pool) adopt(u *Upstream, later bool) *Upstream {
	switch known := p.known[u.Name]; {
	case known == nil && u.live == nil:
		u.live = new(live)
		p.welcome(u.live, later)
	case u.live == nil:
		if u.live = known; later && p.members.Load().byName[u.Name] == nil && known.inflight.Load() == 0 {
			p.welcome(known, later) // it has left, and may be another process by now
		}
	case known != nil && known != u.live: // it has left this pool before, and others hold it as it is
		again := *u
		again.live = known
		u = &again
	}
	u.room.Store(&p.room)
	if !u.Hosted {
		u.health.EndHosting()
	}
	p.known[u.Name] = u.live
	u.drain.set(p.drains[u.Name])
	return u
}

// welcome begins what is known of an upstream. One that joins a pool that serves starts slowly;
// where there are checks, it is to pass one first.
func (p *Pool) welcome(l *live, later bool) {
	if later {
		p.selection.freshen(l, time.Now())
	}
	if p.settings.Load().Check.Kind != health.CheckNone {
		l.health.AwaitCheck()
	}
}

// isBusy reports whether anything goes on there, or waits for its client, or was left to another process a moment ago.
func (l *live) isBusy() bool {
	return l.inflight.Load() > 0 || l.waiting.Load() > 0 || l.left.count() > 0
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
