package bridge

import (
	"cmp"
	"context"

	"berth/proxy/bridge/flow"
	"berth/proxy/resident"
)

// took notes what was read of the answer, which nobody need read once more, and lets the call leave behind it.
func (r *reading) took(it *flow.Item) {
	if it.Aside {
		return
	}
	r.event = cmp.Or(it.Event, r.event)
	r.leaves = r.c.came.Leaves
}

// depart ends the request of a call that runs, and that another berth is to go on with, with a round that asks for nothing: its call is to be sent
// again at once, with a state from which any berth goes on. The zero step: it stays here, at least until more of its answer has come, for it
// is not known that the upstream tells what comes next to somebody else.
func (r *reading) depart(ctx context.Context) (step, error) {
	r.leaves = nil
	event := cmp.Or(r.event, r.flow.Opening())
	if event == "" || r.last != nil || r.unsent || resident.Is(r.c.f.u.URL) || !r.flow.IsReplayed(ctx) {
		return step{}, nil
	}
	return r.pause(ctx, nil, nil, event)
}
