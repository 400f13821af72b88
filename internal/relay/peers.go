package relay

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"berth/internal/renewal"
)

// missesToGo are how many beats in a row a berth's lease is missing before its exchanges are given
// up: after an outage or a flush each berth needs one to put its own back. With the lease's own life
// that is less than two of these.
const missesToGo = 3

// peers are the berths that this one has exchanges with. The zero value has none.
type peers struct {
	mu     sync.Mutex // guards the field below
	byName map[string]*peer
}

type peer struct {
	lease  renewal.Watch
	misses int
	gone   map[*func()]bool // what is to be called when it is gone
}

// follow calls gone once the berth of that name is gone, unless stop is called before.
func (p *peers) follow(name string, gone func()) (stop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byName == nil {
		p.byName = make(map[string]*peer)
	}
	one := p.byName[name]
	if one == nil {
		one = &peer{gone: make(map[*func()]bool)}
		p.byName[name] = one
	}
	one.gone[&gone] = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if delete(one.gone, &gone); len(one.gone) == 0 && p.byName[name] == one {
			delete(p.byName, name)
		}
	}
}

// check looks in m's store whether the berths still stand. Where the store does not say, nothing is known.
func (p *peers) check(ctx context.Context, m *Mailbox) {
	p.mu.Lock()
	names := slices.Collect(maps.Keys(p.byName))
	p.mu.Unlock()
	for _, name := range names {
		version, err := m.standsAt(ctx, name)
		switch {
		case err == nil && p.stood(name, version, 2*m.life/3) >= m.life+m.life/3:
			m.end(ctx, name, version)
		case err != nil && !errors.Is(err, ErrGone):
			continue
		}
		for _, gone := range p.note(name, err == nil) {
			(*gone)()
		}
	}
}

// stood is for how long a berth's lease is known to stand without being renewed; what was seen more than gap ago counts no more.
func (p *peers) stood(name string, version uint64, gap time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.byName[name]; one != nil {
		return one.lease.Stood(version, gap)
	}
	return 0
}

// note notes whether a berth was seen, and returns whom to tell that it is gone.
func (p *peers) note(name string, seen bool) []*func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.byName[name]
	switch {
	case one == nil:
		return nil
	case seen:
		one.misses = 0
		return nil
	}
	if one.misses++; one.misses < missesToGo {
		return nil
	}
	delete(p.byName, name)
	return slices.Collect(maps.Keys(one.gone))
}
