package routing

import (
	"net/url"
	"sync/atomic"
)

// Upstream is one MCP server instance, as a list of its pool's has it: it does not change. Its
// name outlives its connections and its address: bindings hold the name, and what berth knows
// of an instance stays with it.
type Upstream struct {
	Name     string   // unique in its pool
	URL      *url.URL // its MCP endpoint
	Draining bool     // gets no new work, keeps what it owns, as the list says; see IsDraining
	Era      Spoken   // what it is said to speak

	*live // of all upstreams of its name; set by the pool
}

// live is what berth knows of an upstream, whichever list it stands in.
type live struct {
	inflight atomic.Int64
	streams  atomic.Int64 // of inflight
	held     atomic.Int64 // of inflight, but for those that wait for their client
	waiting  atomic.Int64 // held calls with nothing in flight
	drain    draining
	owned    owned
	answers  atomic.Int64 // so far, to probes as well
	pinging  atomic.Bool
	health   health
	profile  atomic.Pointer[Profile] // nil: nothing is known
}

// Is reports whether u and other are the same upstream, which may stand in two lists.
func (u *Upstream) Is(other *Upstream) bool {
	return u == other || u != nil && other != nil && u.live == other.live
}

// Answers returns a number that grows with each answer of the upstream's.
func (u *Upstream) Answers() int64 { return u.answers.Load() }

// Ping has ask ask the upstream for a sign of life, unless somebody does so already.
func (u *Upstream) Ping(ask func()) {
	if u.pinging.CompareAndSwap(false, true) {
		defer u.pinging.Store(false)
		ask()
	}
}

// InFlight returns the number of leases held on the upstream.
func (u *Upstream) InFlight() int { return int(u.inflight.Load()) }

// Lease is one request's hold on an upstream: chosen and counted in one step,
// released once.
type Lease struct {
	Upstream *Upstream // what is held
	released atomic.Bool
	as       *atomic.Int64 // where it is counted besides; nil: nowhere
}

// Release gives the lease back. Releasing twice is harmless.
func (l *Lease) Release() {
	if l.released.CompareAndSwap(false, true) {
		l.Upstream.inflight.Add(-1)
		if l.as != nil {
			l.as.Add(-1)
		}
	}
}

func newLease(u *Upstream) *Lease {
	u.inflight.Add(1)
	return &Lease{Upstream: u}
}
