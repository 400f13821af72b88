package places

import (
	"context"
	"slices"
	"time"

	"berth/internal/mcp"
	"berth/routing"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
	"berth/upgrade/transport"
)

// Places are those that calls take at upstreams, as far as this process sees to them. Its methods may be called concurrently.
type Places struct {
	ledger *ledger.Ledger
	pools  *transport.Pools
	holds  func(id string) bool
}

// New returns the places at the upstreams of pools. holds reports whether this process holds the call of a task, or may be about to.
func New(l *ledger.Ledger, pools *transport.Pools, holds func(id string) bool) *Places {
	return &Places{ledger: l, pools: pools, holds: holds}
}

// Stand takes a place for a call that runs, and that this process is about to go on with as its holder, and
// names it; "": the call takes none. Beside its last holder's: so none is free when that is given back.
func (p *Places) Stand(ctx context.Context, t *task.Task) (name string, err error) {
	if t.Terms.Slots == 0 || !t.Resumable() {
		return "", nil
	}
	name = ledger.PlacesOf(t.ID, p.ledger.Holder) + task.NewName(6)
	life := time.Until(p.ledger.Expires(t).Add(ledger.Spare))
	return name, p.ledger.Lists.Add(ctx, p.ledger.Lists.SlotsOf(t.Terms.Queue, t.Upstream), name, life, 0)
}

// StandNot gives a place back that Stand has taken.
func (p *Places) StandNot(ctx context.Context, t *task.Task, name string) {
	if name != "" {
		p.ledger.FreeSlot(ctx, p.ledger.Lists.SlotsOf(t.Terms.Queue, t.Upstream), name)
	}
}

// Pick chooses an upstream that is not in tried: the one that has the session of a task's call,
// or any. anew says that its call, if it has asked its client, is begun anew. The error is routing's.
func Pick(pool *routing.Pool, t *task.Task, tried []*routing.Upstream, anew bool) (*routing.Lease, error) {
	if t.Session == "" && t.Answered && !anew { // it asked, and is to go on
		if lease, err := pool.GoOn(t.Upstream, tried); lease != nil || err != nil {
			return lease, err
		}
	}
	if t.Session == "" {
		return pool.Pick(routing.Work{Era: mcp.EraModern, Prefer: t.Upstream}, tried) // those of the legacy era live in sessions
	}
	u := pool.Find(t.Upstream)
	if u == nil || slices.ContainsFunc(tried, u.Is) {
		return nil, routing.ErrNoUpstream
	}
	return pool.Own(u), nil
}

// IsBound reports whether the call of a task, which lives in no session, has asked its client and can go on at one upstream alone. anew is as
// of Pick.
func IsBound(pool *routing.Pool, t *task.Task, anew bool) bool {
	if t.Session != "" || !t.Answered || anew {
		return false
	}
	_, noOther := pool.GoOn(t.Upstream, []*routing.Upstream{pool.Find(t.Upstream)})
	return noOther != nil
}

// Choices is how many upstreams the call of a task can go to.
func Choices(pool *routing.Pool, t *task.Task) int {
	if t.Session != "" {
		return 1
	}
	return len(pool.Upstreams())
}
