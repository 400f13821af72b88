package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
	"berth/upgrade/transport"
)

// What a request is refused with that no client will be asked.
var (
	errUnheard   = &mcp.Error{Code: mcp.CodeInternal, Message: "the client does not answer any more"}
	errIllegible = &mcp.Error{Code: mcp.CodeParse, Message: "the request is not UTF-8, or nested too deeply"}
	errNoSession = &mcp.Error{Code: mcp.CodeInternal, Message: "no client can answer without a session"}
)

// oneOf is a list of a message alone, which it copies.
func oneOf(message []byte) []json.RawMessage {
	return []json.RawMessage{bytes.Clone(message)}
}

// asked opens an ask for a request on the call's stream; or answers in the client's place
// what needs none, or what that will not answer any more.
func (s *stream) asked(ctx context.Context, a mcp.Answer, m transport.Message) error {
	id, key := bytes.Clone(a.ID), mcp.IDKey(a.ID)
	t := s.record()
	if !t.MayAsk(key, m.Data) { // as far as it has heard
		_ = s.look(ctx) // else it goes by what it has heard
		t = s.record()
	}
	switch {
	case a.Method == mcp.MethodPing:
		s.post(ctx, mcp.Response(id, []byte("{}")))
		return nil
	case s.refuseUndeclared(ctx, t, id, m.Data):
		return nil
	case t.Session == "" || !t.MayAsk(key, m.Data) || !s.hasRoom(ctx, t, len(m.Data)) || s.isOver(ctx):
		s.r.Metrics.Question(ctx, "refused")
		s.refuse(ctx, id)
		return nil
	}
	if s.isReplayed(ctx, t, key) {
		return nil
	}
	s.notes.flush()
	return s.open(ctx, key, m)
}

// hasRoom reports whether there is room for n bytes more that the client is asked: they are
// kept, and in memory until it has answered.
func (s *stream) hasRoom(ctx context.Context, t *task.Task, n int) bool {
	more := int64(n)
	room := s.l.Quota.Take(s.ID, t.Weight()+more, s.holds(t)+more)
	if !room {
		s.r.Metrics.Refused(ctx, "question")
	}
	return room
}

// open shows a request to the client as the ask of this key, until the upstream has the
// answer. It is listed by its session before the record says so: an answer must find it.
func (s *stream) open(ctx context.Context, key string, m transport.Message) error {
	op := s.l.Op(task.Open)
	op.Round, op.Event, op.Key, op.Request = s.due, m.Event, key, bytes.Clone(m.Data)
	before := s.record()
	list := s.l.Lists.AsksIn(before.Behind)
	err := s.insist(ctx, func(ctx context.Context) error {
		return s.l.Lists.Add(ctx, list, ledger.AskName(s.ID, key), time.Until(s.Expires)+ledger.Spare, 0)
	})
	if err == nil {
		err = s.must(ctx, op)
	}
	if err != nil {
		return s.cause(ctx, err)
	}
	if s.isOver(ctx) { // since: who ended it need not have seen the ask
		s.r.Metrics.Question(ctx, "refused")
		s.refuse(ctx, []byte(key))
		return s.close(ctx, key, "")
	}
	if !before.IsAsked(key) { // else its stream was resumed
		s.r.Metrics.Question(ctx, "asked")
	}
	after := s.record()
	s.recount(after)
	s.l.Notices.Changed(ctx, after)
	return nil
}

// isReplayed reports whether an ask is another call's: a stream that was resumed may replay
// what was asked on others of the session. On a stream that was not, it is the call's own,
// whatever was asked under its id before: the session may have moved since.
func (s *stream) isReplayed(ctx context.Context, t *task.Task, key string) bool {
	if s.reopened.IsZero() {
		return false
	}
	first, err := s.l.Asks.By(ctx, t.Behind, key)
	return err == nil && first != "" && first != s.ID
}

// isOver reports whether the client has ended the session of the call.
func (h *Held) isOver(ctx context.Context) bool {
	over, _ := h.l.Sessions.SessionOver(ctx, h.record().Session) // if nobody can say, it is asked
	return over
}

// refuse answers a request that no client will answer. It reports whether the upstream
// has taken that.
func (h *Held) refuse(ctx context.Context, id []byte) bool {
	why := errUnheard
	if h.record().Session == "" {
		why = errNoSession
	}
	return h.post(ctx, mcp.ErrorResponse(id, why.Object()))
}

// keepAsking looks whether anybody still answers what the upstream waits for: the stream
// says nothing meanwhile that would show it. In a session that its client has ended the
// berth that heard so may have died before it answered.
func (h *Held) keepAsking(ctx context.Context) {
	if t := h.record(); t.Session == "" || len(t.OpenAsks()) == 0 {
		return
	}
	_ = h.look(ctx) // or with the next beat
	if h.givenUp() != nil || !h.isOver(ctx) {
		return
	}
	t := h.record()
	for _, ask := range t.OpenAsks() {
		if h.refuse(ctx, []byte(ask.Key)) {
			h.r.Settle(ctx, h.ID, []byte(ask.Key))
		}
	}
}

// unasked closes an ask that the upstream wants no answer to any more. What else is
// cancelled is none of this call's.
func (s *stream) unasked(ctx context.Context, m transport.Message) error {
	s.notes.flush()
	key := mcp.IDKey(mcp.CancelledID(m.Data))
	if t := s.record(); t.IsAsked(key) {
		s.r.Metrics.Question(ctx, "withdrawn")
	}
	return s.close(ctx, key, m.Event, oneOf(m.Data)...)
}

// close takes an ask away, with what is said of that.
func (s *stream) close(ctx context.Context, key, event string, says ...json.RawMessage) error {
	op := s.l.Op(task.Withdraw)
	op.Round, op.Key, op.Event, op.Says = s.due, key, event, says
	if err := s.must(ctx, op); err != nil {
		return s.cause(ctx, err)
	}
	t := s.record()
	s.recount(t)
	s.l.Notices.Changed(ctx, t)
	return s.insist(ctx, func(ctx context.Context) error { return s.l.Asks.Remove(ctx, t, key) })
}

// refuseUndeclared answers a request on a legacy call's stream that its client has not
// declared to answer, in the client's place. It reports whether the request is one.
func (s *stream) refuseUndeclared(ctx context.Context, t *task.Task, id, request []byte) bool {
	refusal := t.Declares.Refusal(request)
	if refusal == nil {
		return false
	}
	s.r.Metrics.Question(ctx, "undeclared")
	s.post(ctx, mcp.ErrorResponse(id, refusal.Object()))
	return true
}

// unaskable returns why a call fails that asks what no client can be asked; nil if it does not.
func unaskable(asks []inquiry.Input) error {
	for _, ask := range asks {
		if refusal := inquiry.Unaskable(ask.Value); refusal != nil {
			return refusal
		}
	}
	return nil
}

// undeclared returns why a call fails that asks its client for something which that has not
// declared; nil if it does not. Servers must not ask so (2026-07-28, multi round-trip
// requests, "Server Requirements"), and the client could not answer.
func undeclared(declares inquiry.Declared, asks []inquiry.Input) error {
	var all map[string]any
	for _, ask := range asks {
		if lacks := declares.Lacks(ask.Value); lacks != nil {
			all = inquiry.Join(all, lacks)
		}
	}
	if all == nil {
		return nil
	}
	return inquiry.ErrLacks(all)
}
