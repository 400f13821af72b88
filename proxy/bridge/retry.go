package bridge

import (
	"context"
	"errors"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/internal/wire"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/held"
	"berth/proxy/bridge/rounds"
	"berth/proxy/bridge/sessions"
	"berth/proxy/outbound"
	"berth/proxy/session"
)

// retry goes on with a call that has asked: its client's answers go to the upstream, and the
// answer is read further. Each step may be repeated, by whichever berth: an upstream ignores an
// answer that it has, and tells what came after an event as often as it is asked.
func (c *call) retry(ctx context.Context) (*wire.Response, error) {
	st, err := rounds.OpenFor(ctx, c.f.b.options().Keys, c.about(), c.RequestState, c.who.Out.Body, c.f.b.clock.now(ctx))
	if err != nil {
		return nil, err
	}
	if st.First {
		response, err := c.beginAgain(ctx, st)
		if failed, ok := errors.AsType[*exchange.SendError](err); ok && !failed.Sent {
			anew := *failed
			anew.Anew = true
			return nil, &anew
		}
		return response, err
	}
	if c.tasked = st.Tasked; c.needsTasks(st) && !c.DeclaresTasks {
		return nil, mcp.ErrMissingTasks // before anybody hears of the answers: they may be brought once more
	}
	h, elsewhere, err := c.takeOn(ctx, st)
	switch {
	case st.By == c.f.b.name && errors.Is(err, errHolderLost):
		return nil, held.ErrGivenUp // it would be held here
	case st.Unsent && errors.Is(err, errHolderGone):
		return c.begin(ctx) // nothing has run
	case h == nil:
		return elsewhere, err
	}
	if response := h.Outcome(st.Nonce, c.id); response != nil {
		h.LeaveWaiting()
		return response, nil
	}
	c.lacks = st.Lacks
	r := c.readOn(h, st)
	h.Session.Listen(ctx, c.who.Out, st.Heard)
	switch open, moot, err := c.bring(ctx, h, st); {
	case moot:
	case errors.Is(err, flow.ErrSessionLost):
		h.Session.Lose()
		if st.Unsent && !h.Sent {
			r.finish()
			c.lacks = nil
			return c.begin(ctx) // nothing has run
		}
		lost := r.broken(err)
		r.finish()
		return wire.Whole(lost.status, lost.body), nil
	case err != nil:
		h.Rest(r.flow, st.Asks)
		return nil, err
	case len(open) > 0 && len(open) == len(st.Asks) && c.isMoot(ctx, h, st):
	case len(open) > 0:
		h.Rest(r.flow, open)
		return c.askAgain(ctx, st, open)
	}
	if h.Flow != nil {
		h.Flow.ReadOn()
	}
	switch {
	case st.Unsent && !h.Sent:
		return c.goOnEarly(ctx, r)
	case h.Flow == nil:
		go r.flow.Run(nil, st.Event)
	}
	return c.show(ctx, r, nil)
}

// takeOn has the call, whose state that is, go on here, at its upstream, or returns what the berth answers that
// holds it. A call that can be resumed goes on here where that berth is lost. It fails with rounds.ErrState where the
// upstream has left the pool.
func (c *call) takeOn(ctx context.Context, st *rounds.State) (h *held.Call, elsewhere *wire.Response, err error) {
	u := c.f.u.Pool().Owner(ctx, st.Upstream)
	if u == nil {
		return nil, nil, rounds.ErrState
	}
	c.goTo(c.f.b.faceOf(u))
	if h, err = c.f.calls.Take(ctx, st, c.f.sessions, c.f.u, c.who.Out); h != nil || err != nil {
		return h, nil, err
	}
	elsewhere, err = c.f.b.pass(ctx, st.By, c.f.addressed(c.came))
	if st.Else != "" && errors.Is(err, errHolderLost) {
		st.Event, st.Else = st.Else, ""
		h, err = c.f.calls.Take(ctx, st, c.f.sessions, c.f.u, c.who.Out)
	}
	return h, elsewhere, err
}

// goTo has the call be one at another upstream than it was routed to, as where nobody could say which one that is.
func (c *call) goTo(f *face) {
	c.f, c.who.Out = f, f.addressed(c.who.Out)
}

// addressed is a request as it goes to this upstream.
func (f *face) addressed(request *exchange.Request) *exchange.Request {
	own := *request
	own.URL, own.Host = outbound.WithQuery(f.u.URL, request.URL.RawQuery), f.b.options().Endpoint.HostFor(f.u.Upstream, request.Host)
	return &own
}

// answer gives the upstream the answers that the client has brought, with a request, to what was asked in a session, and returns
// what is open. Where one is none the upstream gets none of them (2026-07-28, multi round-trip requests, "Error Handling").
func (b *Bridge) answer(ctx context.Context, out *exchange.Request, l *sessions.Session, asked []rounds.Question) (open []rounds.Question, err error) {
	given, err := rounds.GivenFor(asked, out.Body)
	if err != nil {
		return nil, err
	}
	for _, q := range asked {
		value := rounds.Find(given, q.Key)
		if value == nil {
			open = append(open, q)
			continue
		}
		err := tell(ctx, out, l, mcp.Response(q.ID, value))
		answer, refused := errors.AsType[*session.Refusal](err)
		switch {
		case refused && outbound.DeniesSession(answer.Status) && l.IsDenied(ctx, out):
			return nil, flow.ErrSessionLost
		case refused && outbound.DeniesSession(answer.Status): // it has an answer already, or wants none
		case err != nil:
			return nil, err
		}
	}
	b.metrics.questions.Add(rounds.WasSettled, len(asked)-len(open))
	return open, nil
}

// askAgain asks for what is open still, unless that was too long to be carried. A client that has not declared by now to answer it is told what that takes (2026-07-28, multi
// round-trip requests, "Server Requirements").
func (c *call) askAgain(ctx context.Context, st *rounds.State, open []rounds.Question) (*wire.Response, error) {
	var lacks map[string]any
	for _, q := range open {
		if !inquiry.IsClear(q.Request) {
			return nil, errAllAtOnce
		}
		lacks = inquiry.Join(lacks, c.who.Client.Declares().Lacks(q.Request))
	}
	if len(lacks) > 0 {
		return nil, inquiry.ErrLacks(lacks)
	}
	next := *st
	next.Asks, next.Requests = open, nil
	body, err := c.asking(ctx, &next)
	if err != nil {
		return nil, err
	}
	return wire.Whole(wire.StatusOK, body), nil
}
