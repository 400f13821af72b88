package bridge

import (
	"cmp"
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/bridge/rounds"
	"berth/proxy/bridge/sessions"
)

// giveUp ends the call that has asked with the state which the notification bears: nobody is going to answer.
func (c *call) giveUp(ctx context.Context) (*wire.Response, error) {
	accepted := wire.Whole(wire.StatusAccepted, nil)
	c.who.Caller = sessions.CallerOf(c.who.Out)
	st, err := rounds.Open(ctx, c.f.b.options().Keys, c.about(), c.RequestState)
	if err != nil {
		return nil, err
	}
	if st.First { // nothing waits
		return accepted, nil
	}
	h, elsewhere, err := c.takeOn(ctx, st)
	switch {
	case errors.Is(err, rounds.ErrState), errors.Is(err, errHolderLost):
		return accepted, nil // upstream or holder are gone, and the call with them
	case h == nil:
		return elsewhere, err
	case h.IsOver():
		h.LeaveWaiting()
		return accepted, nil
	}
	h.GiveUp(ctx, st.Asks, cmp.Or(mcp.Param(c.who.Out.Body, "reason"), mcp.WhyCancelled(mcp.ErrCancelled)))
	return accepted, nil
}
