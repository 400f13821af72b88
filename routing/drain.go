package routing

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Drain is an operator's mark: the upstream gets no new work and keeps what it owns. The zero
// value says that there is none.
type Drain struct {
	Since        time.Time `json:"since"`                   // when it was set
	MoveSessions bool      `json:"move_sessions,omitempty"` // sessions that can be opened elsewhere move with their next request
}

// Set reports whether there is a mark.
func (d Drain) Set() bool { return !d.Since.IsZero() }

// draining is the mark on an upstream, what the list says that it stands in, and who waits for either. The zero value is that of none.
type draining struct {
	now    atomic.Pointer[Drain] // what it points to does not change; nil: none
	listed atomic.Bool           // it drains by its list

	mu       sync.Mutex // guards the field below; nobody is told while it is held
	watchers map[*func(Drain)]bool
}

// set makes drain the mark, and reports whether that changes anything. Callers take turns.
func (d *draining) set(drain Drain) (changed bool) {
	if before := d.mark(); before == drain || !before.Set() && !drain.Set() {
		return false
	}
	d.now.Store(&drain)
	d.tell()
	return true
}

// list notes what the list says. Callers take turns.
func (d *draining) list(drains bool) {
	if d.listed.Swap(drains) != drains {
		d.tell()
	}
}

func (d *draining) tell() {
	d.mu.Lock()
	watchers := slices.Collect(maps.Keys(d.watchers))
	d.mu.Unlock()
	for _, told := range watchers {
		(*told)(d.mark())
	}
}

// mark is the mark that stands.
func (d *draining) mark() (drain Drain) {
	if now := d.now.Load(); now != nil {
		drain = *now
	}
	return drain
}

// IsDraining reports whether the upstream gets no new work, by a list that it stands in or by an operator's mark.
func (u *Upstream) IsDraining() bool {
	return u.Draining || u.drain.listed.Load() || u.drain.mark().Set()
}

// Drain returns the operator's mark on the upstream.
func (u *Upstream) Drain() Drain { return u.drain.mark() }

// OnDrain has told hear of the mark on the upstream, if it drains, and whenever it begins or ceases to drain or has another mark
// from now on, until stop is called; once more, perhaps, while it is. What drains by its list may have none. told must not wait.
func (u *Upstream) OnDrain(told func(Drain)) (stop func()) {
	d := &u.drain
	d.mu.Lock()
	if d.watchers == nil {
		d.watchers = make(map[*func(Drain)]bool)
	}
	d.watchers[&told] = true
	d.mu.Unlock()
	if u.IsDraining() {
		told(d.mark())
	}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.watchers, &told)
	}
}

// MovesSessions reports whether sessions are to leave the upstream.
func (u *Upstream) MovesSessions() bool { return u.drain.mark().MoveSessions }

// IsTakenOver reports whether the pool has another upstream that takes new work, and so what may leave u.
func (p *Pool) IsTakenOver(u *Upstream) bool {
	return slices.ContainsFunc(p.Upstreams(), func(other *Upstream) bool {
		return !other.Is(u) && !other.IsDraining() && !other.State().IsDown()
	})
}

// SetDrains has the marks by name be those that stand: for upstreams of the pool, and those that
// join it under such a name.
func (p *Pool) SetDrains(marks map[string]Drain) {
	p.changing.Lock()
	defer p.changing.Unlock()
	p.drains = marks
	for name, l := range p.known {
		if !l.drain.set(marks[name]) {
			continue
		}
		if mark := marks[name]; mark.Set() {
			p.log.Info("upstream drains", "pool", p.name, "upstream", name, "since", mark.Since, "move_sessions", mark.MoveSessions)
		} else {
			p.selection.freshen(l, time.Now())
			p.log.Info("upstream drains no more", "pool", p.name, "upstream", name)
		}
	}
}

// GoOn takes a lease on the upstream of this name, for work that it has asked its client about and is to go on with, if it drains and is
// fit otherwise, or has the work in a session, as those of the legacy era do; nil: Pick has it. It fails with ErrNoUpstream where that one
// was tried and nobody else can go on.
func (p *Pool) GoOn(name string, tried []*Upstream) (*Lease, error) {
	u, alone := p.wouldGoOn(name)
	switch {
	case u == nil:
		return nil, nil
	case !slices.ContainsFunc(tried, u.Is):
		return newLease(u), nil
	case alone:
		return nil, ErrNoUpstream
	}
	return nil, nil
}

// wouldGoOn is the upstream of GoOn; nil: there is none. alone says that nobody else can.
func (p *Pool) wouldGoOn(name string) (u *Upstream, alone bool) {
	u = p.Find(name)
	if u == nil {
		return nil, false
	}
	modern, known := u.SpeaksModern()
	if alone = known && !modern; alone || u.IsDraining() && !u.health.IsUnfit() {
		return u, alone
	}
	return nil, false
}
