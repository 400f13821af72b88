package upgrade

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"berth/internal/mcp"
)

const (
	// maxAsks bounds how many requests of a call may be open at once.
	maxAsks = 32
	// maxAskBytes bounds them together, unless there is only one: each change of the record
	// writes them anew.
	maxAskBytes = 8 << 20
)

// mayAsk reports whether a call may have this request open. One that is, and is replayed,
// stays so.
func (t *Task) mayAsk(key string, request []byte) bool {
	size := len(request)
	for _, ask := range t.Asks {
		size += len(ask.Request)
	}
	return t.asks(key) || len(t.Asks) == 0 || len(t.Asks) < maxAsks && size <= maxAskBytes
}

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
	task := h.Task()
	if !task.mayAsk(key, m.Data) { // as far as it has heard
		_ = h.look(ctx) // else it goes by what it has heard
		task = h.Task()
	}
	switch {
	case a.Method == mcp.MethodPing:
		h.post(ctx, mcp.Response(id, []byte("{}")))
		return nil
	case h.refuseUndeclared(ctx, &task, id, m.Data):
		return nil
	case task.Session == "" || !task.mayAsk(key, m.Data) || !h.hasRoom(ctx, &task, len(m.Data)) || h.isOver(ctx):
		h.r.metrics.question(ctx, "refused")
		h.refuse(ctx, id)
		return nil
	}
	if h.isReplayed(ctx, &task, key) {
		return nil
	}
	h.sayNow()
	return h.open(ctx, key, m)
}

// hasRoom reports whether there is room for n bytes more that the client is asked: they are
// kept, and in memory until it has answered.
func (h *Held) hasRoom(ctx context.Context, task *Task, n int) bool {
	more := int64(n)
	room := h.l.quota.takeHeld(h.id, task.weight()+more, h.holds(task)+more)
	if !room {
		h.r.metrics.refused(ctx, "question")
	}
	return room
}

// open shows a request to the client as the ask of this key, until the upstream has the
// answer. It is listed by its session before the record says so: an answer must find it.
func (h *Held) open(ctx context.Context, key string, m Message) error {
	op := h.l.newOp(Open)
	op.Round, op.Event, op.Key, op.Request = h.due, m.Event, key, bytes.Clone(m.Data)
	before := h.Task()
	list := h.l.lists.asksIn(before.Behind)
	err := h.insist(ctx, func(ctx context.Context) error {
		return h.l.lists.add(ctx, list, askName(h.id, key), time.Until(h.expires)+spare, 0)
	})
	if err == nil {
		err = h.must(ctx, op)
	}
	if err != nil {
		return h.cause(ctx, err)
	}
	if h.isOver(ctx) { // since: who ended it need not have seen the ask
		h.r.metrics.question(ctx, "refused")
		h.refuse(ctx, []byte(key))
		return h.close(ctx, key, "")
	}
	if !before.asks(key) { // else its stream was resumed
		h.r.metrics.question(ctx, "asked")
	}
	after := h.Task()
	h.recount(&after)
	h.l.notices.changed(ctx, &after)
	return nil
}

// isReplayed reports whether an ask is another call's: a stream that was resumed may replay
// what was asked on others of the session. On a stream that was not, it is the call's own,
// whatever was asked under its id before: the session may have moved since.
func (h *Held) isReplayed(ctx context.Context, task *Task, key string) bool {
	if h.reopened.IsZero() {
		return false
	}
	first, err := h.l.asks.by(ctx, task.Behind, key)
	return err == nil && first != "" && first != h.id
}

// isOver reports whether the client has ended the session of the call.
func (h *Held) isOver(ctx context.Context) bool {
	over, _ := h.l.sessions.SessionOver(ctx, h.Task().Session) // if nobody can say, it is asked
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
	if task := h.Task(); task.Session == "" || len(task.OpenAsks()) == 0 {
		return
	}
	_ = h.look(ctx) // or with the next beat
	if h.givenUp() != nil || !h.isOver(ctx) {
		return
	}
	task := h.Task()
	for _, ask := range task.OpenAsks() {
		if h.refuse(ctx, []byte(ask.Key)) {
			h.r.Settle(ctx, h.id, []byte(ask.Key))
		}
	}
}

// keepAllAsking is keepAsking for all calls that are held.
func (r *Runner) keepAllAsking(ctx context.Context) {
	r.forAllHeld(func(h *Held) { h.keepAsking(ctx) })
}

// unasked closes an ask that the upstream wants no answer to any more. What else is
// cancelled is none of this call's.
func (h *Held) unasked(ctx context.Context, m Message) error {
	h.sayNow()
	key := mcp.IDKey(mcp.CancelledID(m.Data))
	if task := h.Task(); task.asks(key) {
		h.r.metrics.question(ctx, "withdrawn")
	}
	return h.close(ctx, key, m.Event, oneOf(m.Data)...)
}

// close takes an ask away, with what is said of that.
func (h *Held) close(ctx context.Context, key, event string, says ...json.RawMessage) error {
	op := h.l.newOp(Withdraw)
	op.Round, op.Key, op.Event, op.Says = h.due, key, event, says
	if err := h.must(ctx, op); err != nil {
		return h.cause(ctx, err)
	}
	task := h.Task()
	h.recount(&task)
	h.l.notices.changed(ctx, &task)
	return h.insist(ctx, func(ctx context.Context) error { return h.l.asks.remove(ctx, &task, key) })
}
