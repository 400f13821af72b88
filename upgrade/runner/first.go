package runner

import (
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/routing"
	"berth/upgrade/places"
	"berth/upgrade/task"
)

// First is the first round of a call as it is sent. It is made before the call is a task, to see that it can be, on the
// stack of who asks for that: a held call's own is to stay small.
type First struct {
	Token  string // what the rounds of the call are known by upstream: their progressToken, and the begin of their ids in the legacy era
	body   []byte
	header *wire.Header   // nil: it is made of the call
	to     *routing.Lease // where it goes, as its record says from the beginning; nil: that is found once it is started
}

// NewFirst makes the first round of a call. core says that its upstream is of 2025-11-25. The error is an *mcp.Error that
// refuses the call.
func NewFirst(call *task.Call, core bool) (f First, err error) {
	f.Token = newToken()
	r := mcp.Round{ProgressToken: f.Token, WithoutTask: core}
	if core {
		r.ID = requestID(f.Token, 1)
	}
	f.body, err = r.Body(call.Body)
	f.header, call.Sent = call.Sent, nil
	return f, err
}

// Commit returns the record of a new task whose call is about to be sent with that said in it already, and has the round go
// there: a step less is stored. A call that has to wait, lives in a session, may be sent by others, or is made once for several
// requests, takes that step when it is sent: its record is returned as it is.
func (r *Runner) Commit(t *task.Task, first *First) *task.Task {
	if t.State != task.Accepted || t.Session != "" || t.Call != "" || t.Terms.Rerun || t.Once != (task.Once{}) {
		return t
	}
	lease, err := places.Pick(r.Pools.Get(t.Pool).Routing, t, nil, false)
	if err != nil {
		return t // which the call finds out again
	}
	op := r.ledger.Op(task.Dispatch)
	op.At, op.Upstream = t.Created, lease.Upstream.Name
	next, _, err := task.Transition(t, op)
	if err != nil {
		lease.Release()
		return t
	}
	lease.Hold()
	first.to = lease
	return next
}

// Drop gives back where a round was to go that is not sent.
func (f *First) Drop() {
	if f.to != nil {
		f.to.Release()
		f.to = nil
	}
}

// newToken returns a token of a call's own. It tells nothing of its task.
func newToken() string { return task.NewNameAfter("berth-", 9) }

// Begin starts the call with its first round. A call that has to wait for its place has that made anew then: it would be
// in memory twice.
func (h *Held) Begin(with First) *Held {
	h.token = with.Token
	switch t := h.record(); {
	case t.State == task.Accepted:
		h.first, h.header = with.body, with.header
	case t.State == task.Dispatched && with.to != nil:
		h.first, h.header, h.to = with.body, with.header, with.to
		return h
	}
	with.Drop()
	return h
}

// takeFirst returns the round that is due as it was made before, once; nil: it is to be made.
func (rd *round) takeFirst(t *task.Task) (body []byte, header *wire.Header) {
	body, header = rd.first, rd.header
	rd.first, rd.header = nil, nil
	if t.Round > 0 && rd.to == nil || t.Answered {
		return nil, nil
	}
	return body, header
}
