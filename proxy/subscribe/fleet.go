package subscribe

import (
	"slices"
	"sync"

	"berth/internal/mcp/listen"
	"berth/routing"
)

// shareAll makes legs that are places at the shared streams of all upstreams, those too that join the pool later.
func (l *Subscription) shareAll(filter listen.Filter) {
	l.inbox, l.fleetwide = newInbox(), filter
	l.follow()
}

// follow has the places at shared streams be those of the upstreams that the pool has now.
func (l *Subscription) follow() {
	before := byName(l.heard)
	l.heard, l.replaced = l.Pool().Watched()
	now := byName(l.heard)
	for _, g := range slices.Clone(l.legs) {
		if g.shared && !g.upstream.Is(now[g.upstream.Name]) {
			l.drop(g)
		}
	}
	for _, u := range l.heard {
		if !u.Is(before[u.Name]) {
			l.share(u)
		}
	}
	l.hears()
}

func byName(all []*routing.Upstream) map[string]*routing.Upstream {
	named := make(map[string]*routing.Upstream, len(all))
	for _, u := range all {
		named[u.Name] = u
	}
	return named
}

// share makes a leg that is a place at the shared stream of an upstream.
func (l *Subscription) share(u *routing.Upstream) {
	g := &leg{l: l, upstream: u, asked: l.fleetwide, shared: true}
	l.legs = append(l.legs, g)
	stream := l.all.join(g)
	g.end = sync.OnceFunc(func() { l.all.shared.leave(stream, g) })
}

// present is an upstream as its pool has it by now: at another address, perhaps. One that the pool has forgotten is what it was.
func present(pool *routing.Pool, u *routing.Upstream) *routing.Upstream {
	if now := pool.Find(u.Name); now != nil {
		return now
	}
	return u
}
