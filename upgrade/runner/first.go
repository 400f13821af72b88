package runner

import (
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/upgrade/task"
)

// First is the first round of a call as it is sent. It is made before the call is a task, to see that it can be, on the
// stack of who asks for that: a held call's own is to stay small.
type First struct {
	Token  string // what the rounds of the call are known by upstream: their progressToken, and the begin of their ids in the legacy era
	body   []byte
	header *wire.Header // nil: it is made of the call
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

// newToken returns a token of a call's own. It tells nothing of its task.
func newToken() string { return task.NewNameAfter("berth-", 9) }

// Begin starts the call with its first round. A call that has to wait for its place has that made anew then: it would be
// in memory twice.
func (h *Held) Begin(with First) *Held {
	h.token = with.Token
	if h.record().State == task.Accepted {
		h.first, h.header = with.body, with.header
	}
	return h
}

// takeFirst returns the round that is due as it was made before, once; nil: it is to be made.
func (rd *round) takeFirst(t *task.Task) (body []byte, header *wire.Header) {
	body, header = rd.first, rd.header
	rd.first, rd.header = nil, nil
	if t.Round > 0 || t.Answered {
		return nil, nil
	}
	return body, header
}
