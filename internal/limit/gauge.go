// Package limit bounds what callers may take: how much of something at once
// (Gauge), how often (Buckets), and how much memory the process may come to hold
// (Memory).
//
// Nothing here waits or queues. Each type answers at once whether there is room,
// so that a refusal costs less than what it refuses, and what is given back can be
// taken in the same moment: there is no state to recover from.
//
// A caller is a string that its user makes up. What is kept of callers is bounded:
// a Gauge remembers those that hold something and a thousand others, Buckets the
// most recent of a fixed number, to the second. A caller that was forgotten begins with a full bucket, so a bound on a
// rate holds for each caller, and not for somebody who can be ten thousand of them.
package limit

import (
	"errors"
	"sync"
)

// What a Gauge has no room for.
var (
	ErrFull       = errors.New("limit: no room left")
	ErrCallerFull = errors.New("limit: no room left for this caller")
)

// Gauge counts what is held at once, in all and by caller. The methods may be called concurrently.
type Gauge struct {
	mu        sync.Mutex // guards the fields below
	all, each int64
	held      int64
	by        map[string]*share // of those who hold something, and of some who did
	recent    [recents]*share   // of these those who took last, where recentOf says
}

// recents is how many callers are found by a comparison.
const recents = 64

// share is what one caller holds, under Gauge.mu.
type share struct {
	caller string
	held   int64
}

// Part is what was taken of a Gauge, to be given back once. The zero Part is nothing.
type Part struct {
	of    *share // nil: callers are not told apart
	units int64
}

// Add has p be more as well, of the same caller.
func (p *Part) Add(more Part) { p.of, p.units = more.of, p.units+more.units }

// idle is up to how many callers one that holds nothing any more stays among them: as a rule it comes again.
const idle = 1024

// NewGauge returns a gauge with room for all units, of which one caller may hold each; 0: callers
// are not told apart.
func NewGauge(all, each int64) *Gauge {
	return &Gauge{all: all, each: each, by: make(map[string]*share)}
}

// SetBounds changes what there is room for. What is held stays, be it more than that. Whether
// callers are told apart does not change: each is 0 where it was, and nowhere else.
func (g *Gauge) SetBounds(all, each int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all, g.each = all, each
}

// Take takes n units for caller, all or none. Errors: ErrFull, ErrCallerFull.
func (g *Gauge) Take(caller string, n int64) (Part, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	own := g.of(caller)
	if err := g.room(own, n); err != nil {
		return Part{}, err
	}
	g.held += n
	if g.each == 0 {
		return Part{units: n}, nil
	}
	if own == nil {
		own = &share{caller: caller}
		g.by[caller], *g.recentOf(caller) = own, own
	}
	own.held += n
	return Part{own, n}, nil
}

// of is what a caller holds; nil: nobody knows of him. Callers have the lock.
func (g *Gauge) of(caller string) *share {
	place := g.recentOf(caller)
	if own := *place; own != nil && own.caller == caller {
		return own
	}
	own := g.by[caller]
	if own != nil {
		*place = own
	}
	return own
}

// recentOf is a caller's place among those who took last.
func (g *Gauge) recentOf(caller string) **share { return &g.recent[placeOf(caller)] }

// placeOf differs between callers who come in turns: they have long names that end in different ways.
func placeOf(caller string) uint {
	n := uint(len(caller))
	if n > 0 {
		n += uint(caller[n-1])
	}
	return n % recents
}

// forget lets go of what a caller held. Callers have the lock.
func (g *Gauge) forget(own *share) {
	delete(g.by, own.caller)
	if place := g.recentOf(own.caller); *place == own {
		*place = nil
	}
}

// Room is Take that takes nothing.
func (g *Gauge) Room(caller string, n int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.room(g.by[caller], n)
}

// room is Room under the lock, for a caller who holds own; nil is nothing.
func (g *Gauge) room(own *share, n int64) error {
	switch {
	case g.each > 0 && (n > g.each || own != nil && own.held+n > g.each):
		return ErrCallerFull
	case g.held+n > g.all:
		return ErrFull
	}
	return nil
}

// Give gives back what was taken.
func (g *Gauge) Give(p Part) {
	if p.units == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held -= p.units
	own := p.of
	if own == nil {
		return
	}
	if own.held -= p.units; own.held == 0 && len(g.by) > idle {
		g.forget(own)
	}
}

// Held is how many units are held at present.
func (g *Gauge) Held() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held
}
