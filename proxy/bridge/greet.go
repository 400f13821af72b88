package bridge

import (
	"context"
	"slices"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/legacy"
	"berth/proxy/bridge/rounds"
	"berth/proxy/resident"
)

// What a server asks while no call can be asked it, most at the start of its session, is asked in
// the first round of the next call there that may be, before that is sent: the server may need the
// answer for it.

const (
	// greeting is how long a server of another transport has to ask what it asks of every new
	// session, before there is a call that it could be taken for, and to take the answer in.
	greeting = 100 * time.Millisecond

	// earlyWord is how long one of Streamable HTTP has, whose questions find their call most often.
	earlyWord = 10 * time.Millisecond

	// earlyAnswer is how long a call that cannot be asked may go without its answer while a question
	// is kept: some servers wait for that.
	earlyAnswer = time.Second
)

// keepAsked keeps a question for the first call that may be asked. It reports whether it does: what
// comes later may be of a call that has ended.
func (l *loan) keepAsked(it flow.Item) bool {
	f := l.f
	if l.shelf == nil || f.b.options().Isolation == ForAll || l.declares.Lacks(it.Message) != nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.called || l.gone || len(l.early) >= mcp.MaxInputs {
		return false
	}
	if l.early = append(l.early, it); len(l.early) == 1 {
		asker := l.asker
		time.AfterFunc(earlyAnswer, func() { l.reviewEarly(asker) })
	}
	return true
}

// reviewEarly refuses what is kept if the call that was under way before still is.
func (l *loan) reviewEarly(before *flow.Flow) {
	l.f.mu.Lock()
	if len(l.early) == 0 || l.gone {
		l.f.mu.Unlock()
		return
	}
	if now := l.asker; now == nil || now != before {
		time.AfterFunc(earlyAnswer, func() { l.reviewEarly(now) })
		l.f.mu.Unlock()
		return
	}
	early := l.takeEarly()
	l.f.mu.Unlock()
	for _, it := range early {
		_ = l.Tell(context.Background(), l.Opened, mcp.ErrorResponse(it.Answer.ID, rounds.ErrNobodyAsked.Object()))
	}
}

// takeEarly takes what is kept. The caller holds stock.mu.
func (l *loan) takeEarly() (early []flow.Item) {
	early, l.early = l.early, nil
	return early
}

// withdrawEarly drops what the server wants no answer to any more. The caller holds stock.mu.
func (l *loan) withdrawEarly(id []byte) {
	l.early = slices.DeleteFunc(l.early, func(it flow.Item) bool { return mcp.IDKey(it.Answer.ID) == mcp.IDKey(id) })
}

// asksRoots is what servers ask of every new session, if anything.
const asksRoots = `{"method":"` + mcp.MethodListRoots + `"}`

// isGreeting reports whether a question may be what the server asks of the session, and not of a call: some
// ask each new one for its roots, whatever it has declared. Streams of calls bear what is of them alone.
func (l *loan) isGreeting(method string) bool {
	if method != mcp.MethodListRoots || l.shelf == nil {
		return false
	}
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	first := !l.askedRoots
	l.askedRoots = true
	return first
}

// letGreet lets a server ask what it asks of every new session.
func (c *call) letGreet(ctx context.Context, l *loan) {
	c.f.mu.Lock()
	first := !l.greeted
	l.greeted = true
	c.f.mu.Unlock()
	if first {
		c.await(ctx, l)
	}
}

// await gives the server time to say what it has to before the call is sent.
func (c *call) await(ctx context.Context, l *loan) {
	d := greeting
	if !resident.Is(c.f.u.URL) {
		if !l.isHeard() || c.client.Declares().Lacks([]byte(asksRoots)) != nil {
			return
		}
		d = earlyWord
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// greet asks the client what the server has asked before the call. nil: nothing.
func (c *call) greet(ctx context.Context, l *loan) (*wire.Response, error) {
	if !asks(c.Method) {
		return nil, nil
	}
	c.f.mu.Lock()
	early := l.takeEarly()
	c.f.mu.Unlock()
	if len(early) == 0 {
		return nil, nil
	}
	id := legacy.NewID()
	r := &reading{c: c, l: l, id: id, flow: l.answer(c.out, id, asks(c.Method)), unsent: true}
	response, err := r.askEarly(ctx, early)
	if response == nil {
		r.l.leave(r.flow)
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
		r.withdraw(ctx, round) // nobody is asked it again
		return nil, err
	}
	return wire.Whole(s.status, s.body), nil
}

// goOnEarly sends a call whose client has answered what was asked before it, unless more is.
func (c *call) goOnEarly(ctx context.Context, r *reading) (*wire.Response, error) {
	c.await(ctx, r.l)
	r.unsent = true
	response, err := r.askEarly(ctx, r.flow.TakeInbox())
	switch {
	case err != nil:
		r.h.rest(r, nil)
		return nil, err
	case response != nil:
		return response, nil
	}
	r.unsent, r.h.sent = false, true
	body, err := c.legacyForm(r.l, r.id)
	if err != nil {
		r.finish()
		return nil, err
	}
	go r.flow.RunWhen(r.l.Start(r.flow.Context(), c.out, body))
	return c.show(ctx, r, nil)
}
