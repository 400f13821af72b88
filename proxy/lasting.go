package proxy

import (
	"berth/proxy/admission"
	"berth/proxy/failover"
	"berth/proxy/lingering"
	"berth/proxy/polls"
	"berth/proxy/standing"
)

// lasting is what a proxy and those that follow it have in common: what is under way in all of them, and
// what was learned from clients and upstreams.
type lasting struct {
	gate      *admission.Gate
	end       *end
	stale     *polls.StaleCache
	polls     *polls.Shared
	mover     failover.Mover
	standing  standing.Streams
	lingering *lingering.Exchanges
}

func newLasting(first *Proxy) *lasting {
	remembers := first.options.LastSeen
	l := &lasting{
		gate:  admission.New(first.settings.Limits, first.options.Meter, first.log),
		end:   newEnd(),
		stale: polls.NewStaleCache(remembers.Entry, remembers.Total),
		polls: polls.NewShared(first.log),

		lingering: lingering.New(first.options.Notices),
	}
	l.gate.Begin(first.options.Endpoints)
	l.mover.Count = first.audit.Moved
	return l
}
