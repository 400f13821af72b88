package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"berth/internal/mcp"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// What a request is refused with that no client will be asked.
var (
	errUnheard   = &mcp.Error{Code: mcp.CodeInternal, Message: "the client does not answer any more"}
	errIllegible = &mcp.Error{Code: mcp.CodeParse, Message: "the request is not UTF-8"}
	errNoSession = &mcp.Error{Code: mcp.CodeInternal, Message: "no client can answer without a session"}
)

// oneOf is a list of a message alone, which it copies.
func oneOf(message []byte) []json.RawMessage {
	return []json.RawMessage{bytes.Clone(message)}
}

// asked opens an ask for a request on the call's stream; or answers in the client's place
// what needs none, or what that will not answer any more.
func (h *Held) asked(ctx context.Context, a mcp.Answer, m Message) error {
	id, key := bytes.Clone(a.ID), mcp.IDKey(a.ID)
	t := h.Task()
	if !t.MayAsk(key, m.Data) { // as far as it has heard
		_ = h.look(ctx) // else it goes by what it has heard
		t = h.Task()
	}
	switch {
	case a.Method == mcp.MethodPing:
		h.post(ctx, mcp.Response(id, []byte("{}")))
		return nil
	case h.refuseUndeclared(ctx, &t, id, m.Data):
		return nil
	case t.Session == "" || !t.MayAsk(key, m.Data) || !h.hasRoom(ctx, &t, len(m.Data)) || h.isOver(ctx):
		h.r.Metrics.question(ctx, "refused")
		h.refuse(ctx, id)
		return nil
	}
	if h.isReplayed(ctx, &t, key) {
		return nil
	}
	h.sayNow()
	return h.open(ctx, key, m)
}

// hasRoom reports whether there is room for n bytes more that the client is asked: they are
// kept, and in memory until it has answered.
func (h *Held) hasRoom(ctx context.Context, t *task.Task, n int) bool {
	more := int64(n)
	room := h.l.Quota.TakeHeld(h.ID, t.Weight()+more, h.holds(t)+more)
	if !room {
		h.r.Metrics.Refused(ctx, "question")
	}
	return room
}

// open shows a request to the client as the ask of this key, until the upstream has the
// answer. It is listed by its session before the record says so: an answer must find it.
func (h *Held) open(ctx context.Context, key string, m Message) error {
	op := h.l.Op(task.Open)
	op.Round, op.Event, op.Key, op.Request = h.due, m.Event, key, bytes.Clone(m.Data)
	before := h.Task()
	list := h.l.Lists.AsksIn(before.Behind)
	err := h.insist(ctx, func(ctx context.Context) error {
		return h.l.Lists.Add(ctx, list, ledger.AskName(h.ID, key), time.Until(h.Expires)+ledger.Spare, 0)
	})
	if err == nil {
		err = h.must(ctx, op)
	}
	if err != nil {
		return h.cause(ctx, err)
	}
	if h.isOver(ctx) { // since: who ended it need not have seen the ask
		h.r.Metrics.question(ctx, "refused")
		h.refuse(ctx, []byte(key))
		return h.close(ctx, key, "")
	}
	if !before.IsAsked(key) { // else its stream was resumed
		h.r.Metrics.question(ctx, "asked")
	}
	after := h.Task()
	h.recount(&after)
	h.l.Notices.Changed(ctx, &after)
	return nil
}

// isReplayed reports whether an ask is another call's: a stream that was resumed may replay
// what was asked on others of the session. On a stream that was not, it is the call's own,
// whatever was asked under its id before: the session may have moved since.
func (h *Held) isReplayed(ctx context.Context, t *task.Task, key string) bool {
	if h.reopened.IsZero() {
		return false
	}
	first, err := h.l.Asks.By(ctx, t.Behind, key)
	return err == nil && first != "" && first != h.ID
}

// isOver reports whether the client has ended the session of the call.
func (h *Held) isOver(ctx context.Context) bool {
	over, _ := h.l.Sessions.SessionOver(ctx, h.Task().Session) // if nobody can say, it is asked
	return over
}

// refuse answers a request that no client will answer. It reports whether the upstream
// has taken that.
func (h *Held) refuse(ctx context.Context, id []byte) bool {
	why := errUnheard
	if h.Task().Session == "" {
		why = errNoSession
	}
	return h.post(ctx, mcp.ErrorResponse(id, why.Object()))
}

// keepAsking looks whether anybody still answers what the upstream waits for: the stream
// says nothing meanwhile that would show it. In a session that its client has ended the
// berth that heard so may have died before it answered.
func (h *Held) keepAsking(ctx context.Context) {
	if t := h.Task(); t.Session == "" || len(t.OpenAsks()) == 0 {
		return
	}
	_ = h.look(ctx) // or with the next beat
	if h.givenUp() != nil || !h.isOver(ctx) {
		return
	}
	t := h.Task()
	for _, ask := range t.OpenAsks() {
		if h.refuse(ctx, []byte(ask.Key)) {
			h.r.Settle(ctx, h.ID, []byte(ask.Key))
		}
	}
}

// unasked closes an ask that the upstream wants no answer to any more. What else is
// cancelled is none of this call's.
func (h *Held) unasked(ctx context.Context, m Message) error {
	h.sayNow()
	key := mcp.IDKey(mcp.CancelledID(m.Data))
	if t := h.Task(); t.IsAsked(key) {
		h.r.Metrics.question(ctx, "withdrawn")
	}
	return h.close(ctx, key, m.Event, oneOf(m.Data)...)
}

// close takes an ask away, with what is said of that.
func (h *Held) close(ctx context.Context, key, event string, says ...json.RawMessage) error {
	op := h.l.Op(task.Withdraw)
	op.Round, op.Key, op.Event, op.Says = h.due, key, event, says
	if err := h.must(ctx, op); err != nil {
		return h.cause(ctx, err)
	}
	t := h.Task()
	h.recount(&t)
	h.l.Notices.Changed(ctx, &t)
	return h.insist(ctx, func(ctx context.Context) error { return h.l.Asks.Remove(ctx, &t, key) })
}
