package runner

import (
	"context"

	"berth/internal/mcp"
	"berth/upgrade/task"
)

// refuseUndeclared answers a request on a legacy call's stream that its client has not
// declared to answer, in the client's place. It reports whether the request is one.
func (s *stream) refuseUndeclared(ctx context.Context, t *task.Task, id, request []byte) bool {
	refusal := t.Declares.Refusal(request)
	if refusal == nil {
		return false
	}
	s.r.Metrics.question(ctx, "undeclared")
	s.post(ctx, mcp.ErrorResponse(id, refusal.Object()))
	return true
}
