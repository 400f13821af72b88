package routing

import "sync/atomic"

// Lease is one request's hold on an upstream: chosen and counted in one step,
// released once.
type Lease struct {
	Upstream *Upstream // what is held
	released atomic.Bool
	stands   bool
	holds    bool
}

// Stand notes, before the lease is shared, that it is held for a standing stream, which takes no
// room.
func (l *Lease) Stand() {
	if !l.stands {
		l.stands = true
		l.Upstream.standing.Add(1)
		l.Upstream.freed()
	}
}

// Hold notes, before the lease is shared, that it is held for a call that berth keeps.
func (l *Lease) Hold() {
	if !l.holds {
		l.holds = true
		l.Upstream.held.Add(1)
	}
}

// Release gives the lease back. Releasing twice is harmless.
func (l *Lease) Release() {
	if !l.released.CompareAndSwap(false, true) {
		return
	}
	l.Upstream.inflight.Add(-1)
	if l.holds {
		l.Upstream.held.Add(-1)
	}
	if l.stands {
		l.Upstream.standing.Add(-1)
		return
	}
	l.Upstream.freed()
}

// HandOver passes the hold on: from now on the lease that it returns is to be released, and releasing l does
// nothing. It is not for a lease that was released, nor for one that is shared.
func (l *Lease) HandOver() *Lease {
	l.released.Store(true)
	return &Lease{Upstream: l.Upstream, stands: l.stands, holds: l.holds}
}

// freed lets in who waits for room.
func (l *live) freed() {
	if r := l.room.Load(); r != nil {
		r.letIn()
	}
}

func newLease(u *Upstream) *Lease {
	u.inflight.Add(1)
	return &Lease{Upstream: u}
}
