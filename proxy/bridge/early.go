package bridge

import (
	"context"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/eras"
	"berth/internal/mcp/inquiry"
	"berth/internal/timed"
	"berth/internal/wire"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/rounds"
	"berth/proxy/bridge/sessions"
	"berth/proxy/outbound"
	"berth/proxy/resident"
)

// What a server asks while no call can be asked it, most at the start of its session, is asked in
// the first round of the next call there that may be, before that is sent: the server may need the
// answer for it.

const (
	// earlyTime is how long a server of another transport has to ask what it asks of every new
	// session, before there is a call that it could be taken for, and to take the answer in.
	earlyTime = 100 * time.Millisecond

	// earlyTimeHTTP is how long one of Streamable HTTP has, whose questions find their call most often.
	earlyTimeHTTP = 10 * time.Millisecond
)

// asksRoots is what servers ask of every new session, if anything.
const asksRoots = `{"method":"` + inquiry.MethodListRoots + `"}`

// letAskEarly lets a server ask what it asks of every new session.
func letAskEarly(ctx context.Context, l *sessions.Session, client *eras.Client) {
	switch first, unknown := l.LetsAskEarly(); {
	case first && unknown && l.IsHeard() && !canTellRoots(client): // what is asked in mid-call is taken for the call's, unless the server asks every new session so
		_ = timed.Sleep(ctx, earlyTime)
		l.NoteAwaited()
	case first:
		await(ctx, l, client)
	}
}

// await gives the server time to say what it has to before a call of the client's is sent.
func await(ctx context.Context, l *sessions.Session, client *eras.Client) {
	d := earlyTime
	if !resident.Is(l.At.URL) {
		if !l.IsHeard() || !canTellRoots(client) {
			return
		}
		d = earlyTimeHTTP
	}
	_ = timed.Sleep(ctx, d)
}

// canTellRoots reports whether a client has declared that it answers what servers ask of every new session.
func canTellRoots(client *eras.Client) bool {
	return client.Declares().Lacks([]byte(asksRoots)) == nil
}

// askEarly asks the client what the server has asked before the call. nil: nothing.
func (c *call) askEarly(ctx context.Context, l *sessions.Session) (*wire.Response, error) {
	if !asks(c.Method) {
		return nil, nil
	}
	early := l.TakeEarly()
	if len(early) == 0 {
		return nil, nil
	}
	id := outbound.NewID()
	r := &reading{c: c, l: l, id: id, flow: l.Answer(c.who.Out, id, asks(c.Method)), unsent: true}
	response, err := r.askEarly(ctx, early)
	if response == nil {
		r.l.Over(r.flow, "")
	}
	return response, err
}

// askEarly asks the client what of these it is to answer; nil: nothing.
func (r *reading) askEarly(ctx context.Context, early []flow.Item) (*wire.Response, error) {
	var round []rounds.Question
	for _, it := range early {
		switch a := &it.Answer; {
		case a.Method == mcp.MethodCancelled:
			round = r.c.f.b.metrics.questions.Withdrawn(round, mcp.CancelledID(it.Message))
		case a.ID == nil: // a log of no call
		default:
			if q, ok := r.open(ctx, it); ok {
				round = append(round, q)
			}
		}
	}
	if len(round) == 0 {
		return nil, nil
	}
	s, err := r.pause(ctx, round, nil, "")
	if err != nil {
		r.leave(ctx, round) // nobody is asked it again
		return nil, err
	}
	return wire.Whole(s.status, s.body), nil
}

// goOnEarly sends a call whose client has answered what was asked before it, unless more is.
func (c *call) goOnEarly(ctx context.Context, r *reading) (*wire.Response, error) {
	await(ctx, r.l, &c.who.Client)
	r.unsent = true
	response, err := r.askEarly(ctx, r.flow.TakeInbox())
	switch {
	case err != nil:
		r.h.Rest(r.flow, nil)
		return nil, err
	case response != nil:
		return response, nil
	}
	r.unsent, r.sends, r.h.Sent = false, true, true
	c.support = c.f.tools.Support(c.Name)
	body, err := c.legacyForm(r.l, r.id)
	if err != nil {
		r.finish()
		return nil, err
	}
	go r.flow.RunWhen(r.l.Start(r.flow.Context(), c.who.Out, body))
	return c.show(ctx, r, nil)
}
