package bridge

import (
	"bytes"
	"context"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/proxy/bridge/held"
	"berth/proxy/bridge/rounds"
)

// brought is what came of telling an upstream a client's answers.
type brought struct {
	open []rounds.Question
	err  error
}

// bring is Bridge.answer for a call that goes on. Where its answer is read here, and ends meanwhile or has broken off, the upstream is told still,
// but nothing waits for that: the call is moot, and goes on to its end. The caller has the call's turn.
func (c *call) bring(ctx context.Context, h *held.Call, st *rounds.State) (open []rounds.Question, moot bool, err error) {
	if h.Flow == nil {
		open, err = c.f.b.answer(ctx, c.who.Out, h.Session, st.Asks)
		return open, false, err
	}
	out := *c.who.Out // it may outlast the request
	out.Header, out.Body = out.Header.Clone(), bytes.Clone(out.Body)
	told := make(chan brought, 1)
	go func() {
		open, err := c.f.b.answer(ctx, &out, h.Session, st.Asks)
		told <- brought{open, err}
	}()
	is, over := awaitEither(told, h, st)
	_, failed := errors.AsType[*exchange.SendError](is.err)
	return is.open, over || failed && c.isMoot(ctx, h, st), is.err
}

// awaitEither waits until an upstream was told, or the call's answer, which is kept as it comes, shows that it is over, or wants none: it may be told
// for a glance then.
func awaitEither(told <-chan brought, h *held.Call, st *rounds.State) (is brought, over bool) {
	open, items := openOf(st.Asks), h.Flow.Items
	var late <-chan time.Time
	for _, it := range h.Kept() {
		if open.without(&it, st.Request) {
			late, items = time.After(glance), nil
		}
	}
	for {
		select {
		case is = <-told:
			return is, false
		case it := <-items:
			more := h.Keep(it)
			if open.without(&it, st.Request) {
				late = time.After(glance)
			}
			if late != nil || !more {
				items = nil
			}
		case <-late:
			return is, true
		}
	}
}
