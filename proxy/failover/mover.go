package failover

import (
	"context"

	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/routing"
	"berth/sticky"

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
	Moved     Outcome = "moved"
	Joined    Outcome = "joined"      // it was moved already, by another request or berth
	Overtaken Outcome = "lost"        // another berth moved it at the same time
	Unkept    Outcome = "unkept"      // what it takes is not kept, or the store cannot tell
	Nowhere   Outcome = "no_upstream" // no other upstream could be reached
	Version   Outcome = "version"     // the other upstream negotiates another protocol version
	Rejected  Outcome = "failed"      // it refused, or did not answer
)

// Outcomes are all of them.
var Outcomes = []Outcome{Moved, Joined, Overtaken, Unkept, Nowhere, Version, Rejected}

// Outdated judges a request by whether another berth has moved its session since, which the
// near cache did not know.
func (m *Mover) Outdated(ctx context.Context, c Case) Verdict {
	if !c.MayReopen() || !c.standsElsewhere(ctx) {
		return Verdict{}
	}
	m.Count(c.PoolName(), Joined)
	return Verdict{Step: Reroute}
}

// MayBeBehind reports whether a request that goes where its session is, and does not move it, a client's answer or the session's end, may
// be led by what another berth has changed since: the upstream that the session has left may stand, and take both to no effect.
func MayBeBehind(c *inbound.Call, at *routing.Decision) bool {
	return at.Source == sticky.SourceLRU && (c.HTTP.Method == wire.MethodDelete || c.HasResponse())
}

// Leaving judges a request that is to go to u, its session's upstream, which drains, and whose sessions
// are to move. One that cannot be opened elsewhere stays.
func (m *Mover) Leaving(c Case, u *routing.Upstream) Verdict {
	c.leaves = true
	c.read()
	v := m.elsewhere(c, u, unreachable)
	if v.Step == Refuse {
		return Verdict{Later: v.Later}
	}
	return v
}

// Lost judges a request that could not be sent to u, its session's upstream; nil is one that
// is not in the pool any more.
func (m *Mover) Lost(ctx context.Context, c Case, u *routing.Upstream) Verdict {
	c.read()
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
	v := m.elsewhere(c, u, unreachable)
	if v.waits {
		return refuse(fault.OwnerSilent) // its client is not to begin anew
	}
	return v
}
