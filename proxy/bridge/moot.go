package bridge

import (
	"context"
	"errors"
	"slices"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/held"
	"berth/proxy/bridge/rounds"
	"berth/proxy/bridge/sessions"
)

// answerMoot tells whether the upstream waits for none of the answers any more that a round has asked for: 204 if so. The call goes on waiting.
func (c *call) answerMoot(ctx context.Context) (*wire.Response, error) {
	waits, moot := wire.Whole(wire.StatusAccepted, nil), wire.Whole(wire.StatusNoContent, nil)
	c.who.Caller = sessions.CallerOf(c.who.Out)
	st, err := rounds.Open(ctx, c.f.b.options().Keys, c.about(), c.RequestState)
	switch {
	case err != nil:
		return nil, err
	case st.First: // the call is made with the answer
		return waits, nil
	case st.IsLate(c.f.b.clock.now(ctx)):
		return moot, nil
	}
	u := c.f.u.Pool().Owner(ctx, st.Upstream)
	if u == nil {
		return waits, nil
	}
	c.goTo(c.f.b.faceOf(u))
	if st.By != c.f.b.name && !c.f.calls.Has(string(st.Request)) {
		elsewhere, err := c.f.b.pass(ctx, st.By, c.f.addressed(c.came))
		if !errors.Is(err, errHolderLost) {
			return elsewhere, err
		}
	}
	h, elsewhere, err := c.takeOn(ctx, st)
	switch {
	case errors.Is(err, errHolderGone):
		return moot, nil
	case errors.Is(err, errHolderLost): // it may live
		return waits, nil
	case h == nil && err == nil:
		return elsewhere, nil
	case h == nil:
		return nil, err
	case h.IsOver(), c.isMoot(ctx, h, st):
		waits = moot
	}
	h.WaitOn(st.Asks, st.Late(c.f.b.clock.now(ctx)))
	return waits, nil
}

const (
	glance = 100 * time.Millisecond // at an answer that is read here
	look   = time.Second            // at one that is replayed
)

// isMoot looks at what has come of a call's answer while its client was asked, and reports whether that is the answer's end, or that the
// upstream wants none of the answers any more. What is read here is left to whoever reads on. The caller has the call's turn.
func (c *call) isMoot(ctx context.Context, h *held.Call, st *rounds.State) bool {
	if st.Unsent && !h.Sent {
		return false
	}
	if h.Flow == nil {
		return c.isMootThere(ctx, h, st)
	}
	open := openOf(st.Asks)
	kept := h.Kept()
	if slices.ContainsFunc(kept, func(it flow.Item) bool { return open.without(&it, st.Request) }) {
		return true
	}
	h.Flow.ReadOn()
	defer h.Flow.Rest()
	over := time.After(glance)
	for {
		select {
		case it := <-h.Flow.Items:
			more := h.Keep(it)
			if gone := open.without(&it, st.Request); gone || !more {
				return gone
			}
		case <-over:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// isMootThere is isMoot of an answer that the upstream replays.
func (c *call) isMootThere(ctx context.Context, h *held.Call, st *rounds.State) bool {
	ctx, cancel := context.WithTimeout(ctx, look)
	defer cancel()
	open := openOf(st.Asks)
	fl := h.Session.Read(ctx, c.who.Out, st.Request)
	go fl.Run(nil, st.Event)
	for {
		select {
		case it := <-fl.Items:
			if open.without(&it, st.Request) {
				return ctx.Err() == nil || it.Message != nil
			}
		case <-ctx.Done():
			return false
		}
	}
}

// open are the raw ids of questions that wait for answers, as mcp.IDKey has them.
type open map[string]bool

func openOf(asks []rounds.Question) open {
	o := open{}
	for _, q := range asks {
		o[mcp.IDKey(q.ID)] = true
	}
	return o
}

// without reports whether nothing is open once that item has come of the answer to the call that id names.
func (o open) without(it *flow.Item, id []byte) bool {
	switch a := &it.Answer; {
	case it.Message == nil, a.Method == "" && a.Answers(id):
		return true
	case a.Method == mcp.MethodCancelled:
		delete(o, mcp.IDKey(mcp.CancelledID(it.Message)))
	}
	return len(o) == 0
}
