package upgrade

import (
	"context"

	"berth/internal/mcp"
)

// undeclared returns why a call fails that asks its client for something which that has not
// declared; nil if it does not. Servers must not ask so (2026-07-28, multi round-trip
// requests, "Server Requirements"), and the client could not answer.
func (t *Task) undeclared(asks []mcp.Input) error {
	for _, ask := range asks {
		if lacks := t.Declares.Lacks(ask.Value); lacks != nil {
			return mcp.ErrLacks(lacks)
		}
	}
	return nil
}

// refuseUndeclared answers a request on a legacy call's stream that its client has not
// declared to answer, in the client's place. It reports whether the request is one.
func (h *Held) refuseUndeclared(ctx context.Context, task *Task, id, request []byte) bool {
	refusal := task.Declares.Refusal(request)
	if refusal == nil {
		return false
	}
	h.r.metrics.question(ctx, "undeclared")
	h.post(ctx, mcp.ErrorResponse(id, refusal.Object()))
	return true
}
