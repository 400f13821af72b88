package routing

import (
	"slices"
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

// turn is whether an upstream drains by a mark, until that changes.
type turn struct {
	drain Drain
	over  chan struct{} // closed once it is another
}

// draining is an upstream's turn; the zero value is one without a mark.
type draining struct {
	now   atomic.Pointer[turn]
	first atomic.Pointer[turn] // what stands before any mark, for who watches
}

// set makes drain the mark, and reports whether that changes anything. Callers take turns.
func (d *draining) set(drain Drain) (changed bool) {
	before := d.turn()
	if before.drain == drain || !before.drain.Set() && !drain.Set() {
		return false
	}
	d.now.Store(&turn{drain: drain, over: make(chan struct{})})
	close(before.over)
	return true
}

// turn is the one that stands.
func (d *draining) turn() *turn {
	if now := d.now.Load(); now != nil {
		return now
	}
	d.first.CompareAndSwap(nil, &turn{over: make(chan struct{})})
	if now := d.now.Load(); now != nil {
		return now
	}
	return d.first.Load()
}

// mark is the mark that stands.
func (d *draining) mark() Drain {
	if now := d.now.Load(); now != nil {
		return now.drain
	}
	return Drain{}
}

// IsDraining reports whether the upstream gets no new work, by the file or by an operator's mark.
func (u *Upstream) IsDraining() bool { return u.Draining || u.drain.mark().Set() }

// Drain returns the operator's mark on the upstream, and a channel that is closed once another
// stands.
func (u *Upstream) Drain() (mark Drain, over <-chan struct{}) {
	now := u.drain.turn()
	return now.drain, now.over
}

// MovesSessions reports whether sessions are to leave the upstream.
func (u *Upstream) MovesSessions() bool { return u.drain.mark().MoveSessions }

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
			p.log.Info("upstream drains no more", "pool", p.name, "upstream", name)
		}
	}
}

// GoOn takes a lease on the upstream of this name if it drains and is fit otherwise, for work
// that it has asked its client about and is to go on with; nil: Pick has it.
func (p *Pool) GoOn(name string, tried []*Upstream) *Lease {
	u := p.Find(name)
	if u == nil || !u.IsDraining() || slices.ContainsFunc(tried, u.Is) {
		return nil
	}
	if trouble, _ := u.Trouble(); trouble != "" {
		return nil
	}
	return newLease(u)
}
