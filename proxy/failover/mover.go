package failover

import (
	"context"
	"errors"

	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/routing"

	"golang.org/x/sync/singleflight"
)

// Mover moves sessions away from upstreams that lost them. Count must be set.
type Mover struct {
	Count func(pool string, o Outcome) // hears of each attempt

	moves singleflight.Group // under way
}

// Outcome is what an attempt to move a session comes to; the label of a metric.
type Outcome = string

// The outcomes.
const (
	Moved    Outcome = "moved"
	Joined   Outcome = "joined"      // it was moved already, by another request or berth
	Overtook Outcome = "lost"        // another berth moved it at the same time
	Unkept   Outcome = "unkept"      // what it takes is not kept, or the store cannot tell
	Nowhere  Outcome = "no_upstream" // no other upstream could be reached
	Version  Outcome = "version"     // the other upstream negotiates another protocol version
	Rejected Outcome = "failed"      // it refused, or did not answer
)

// Outcomes are all of them.
var Outcomes = []Outcome{Moved, Joined, Overtook, Unkept, Nowhere, Version, Rejected}

// errNotMoved says that the session could not be moved, and that its client is to get
// what it gets where none are.
var errNotMoved = errors.New("failover: the session was not moved")

// Outdated judges a request before it is told that its upstream u is silent.
func (m *Mover) Outdated(ctx context.Context, c Case) Verdict {
	if !c.outdated(ctx) {
		return Verdict{}
	}
	m.Count(c.PoolName(), Joined)
	return Verdict{Step: Reroute}
}

// Lost judges a request that could not be sent to u, its session's upstream; nil is one that
// is not in the pool any more.
func (m *Mover) Lost(ctx context.Context, c Case, u *routing.Upstream) Verdict {
	if v := m.Outdated(ctx, c); v.Step != Stay {
		return v
	}
	switch {
	case u == nil && c.Pinned():
		return refuse(fault.OwnerSilent)
	case c.MayReopen() && c.IsResponse():
		return Verdict{Step: Drop}
	case c.MayReopen() && c.HTTP.Method == wire.MethodDelete:
		ctx, cancel := c.Recording()
		defer cancel()
		Forget(ctx, c.Endpoint, c.At.Key) // nobody is to open it anew
	}
	return m.elsewhere(c, u, false)
}

// elsewhere moves the session away from u, and sends the request after it. It stays if the
// session could not be moved.
func (m *Mover) elsewhere(c Case, u *routing.Upstream, alive bool) Verdict {
	binding, err := m.relocate(c, u, alive)
	switch {
	case errors.Is(err, errNotMoved):
		return Verdict{}
	case err != nil:
		return refuse(err)
	}
	return follow(c, binding)
}
