package bridge

import (
	"cmp"
	"context"

	"berth/proxy/bridge/flow"
	"berth/proxy/resident"
)

// took notes what was read of the answer, which nobody need read once more, and lets the call leave behind it, unless others of its event may come.
func (r *reading) took(it *flow.Item) {
	if it.Aside {
		return
	}
	r.event = cmp.Or(it.Event, r.event)
	if r.leaves = r.c.came.Leaves; it.Batched {
		r.leaves = nil
	}
}

// depart ends the request of a call that runs, and that another berth is to go on with, with a round that asks for nothing: its call is to be sent
// again at once, with a state from which any berth goes on. The zero step: it stays here, at least until more of its answer has come, for it
// is not known that the upstream tells what comes next to somebody else, or another call runs in its session, which is ended by who goes on with this one.
func (r *reading) depart(ctx context.Context) (step, error) {
	r.leaves = nil
	event := cmp.Or(r.event, r.flow.Opening())
	if event == "" || r.last != nil || r.unsent || resident.Is(r.c.f.u.URL) || !r.flow.IsFoundReplayed(ctx) || !r.l.TakeAlone() {
		return step{}, nil
	}
	return r.pause(ctx, nil, nil, event)
}
