package bridge

import (
	"context"
	"crypto/rand"
	"strconv"

	"berth/internal/mcp/eras"
	"berth/internal/mcp/inquiry"
	"berth/internal/wire"
	"berth/proxy/bridge/rounds"
	"berth/proxy/fault"
)

// A legacy tool may refuse its call until the user was at a URL (2025-11-25, elicitation, "URL Elicitation Required Error"). A modern
// server asks for that, and is called anew when the client has answered.

// askFirst is the response that asks the client for what the call was refused for.
func (c *call) askFirst(ctx context.Context, message []byte) (status int, body []byte) {
	st := rounds.State{
		Upstream: c.f.u.Name, Call: rounds.Digest(c.who.Out.Body, false), Means: rounds.Digest(c.who.Out.Body, true),
		Nonce: rand.Text(), By: c.f.b.name, First: true,
	}
	for i, request := range inquiry.RequiredElicitations(message) {
		if lacks := c.who.Client.Declares().Lacks(request); lacks != nil {
			c.f.b.metrics.questions.Add(rounds.WasUndeclared, 1)
			refusal := inquiry.ErrLacks(lacks)
			return refusal.Status, refusal.Body(c.id)
		}
		if len(st.Asks) < inquiry.MaxInputs {
			st.Asks = append(st.Asks, rounds.Question{Key: "first-" + strconv.Itoa(i), Request: request})
		}
	}
	if len(st.Asks) == 0 || !asks(c.Method) {
		return wire.StatusOK, eras.ModernForm(message, c.id, false)
	}
	body, err := c.asking(ctx, &st)
	if err != nil {
		worded := fault.Word(err, false)
		return worded.Status, worded.Body(c.id)
	}
	c.f.b.metrics.questions.Add(rounds.WasAsked, len(st.Asks))
	return wire.StatusOK, body
}

// beginAgain makes the call anew whose client has answered all of what askFirst has asked for.
func (c *call) beginAgain(ctx context.Context, st *rounds.State) (*wire.Response, error) {
	given, err := rounds.GivenFor(st.Asks, c.who.Out.Body)
	if err != nil {
		return nil, err
	}
	var open []rounds.Question
	for _, q := range st.Asks {
		switch value := rounds.Find(given, q.Key); {
		case value == nil:
			open = append(open, q)
		case !inquiry.Accepts(value):
			return nil, errNotThere
		}
	}
	c.f.b.metrics.questions.Add(rounds.WasSettled, len(st.Asks)-len(open))
	if len(open) > 0 {
		return c.askAgain(ctx, st, open)
	}
	if !c.f.b.Bridges(c.f.u.Upstream) {
		u := c.f.u.Pool().Owner(ctx, st.Upstream)
		if u == nil {
			return nil, rounds.ErrState
		}
		c.goTo(c.f.b.faceOf(u))
	}
	return c.begin(ctx)
}
