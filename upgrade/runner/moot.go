package runner

import (
	"context"

	"berth/internal/mcp"
	"berth/upgrade/task"
)

// IsMoot reports whether the upstream is known to wait for none of the answers any more that a task's client is asked for. with is what
// authorises that question.
func (r *Runner) IsMoot(ctx context.Context, t *task.Task, with task.Envelope) bool {
	u := r.Pools.Upstream(t)
	if u == nil || t.State != task.InputRequired || t.Follows != "" || len(t.RequestState) == 0 {
		return false
	}
	ask := r.Pools.Get(t.Pool).Transport.IsMoot
	return ask != nil && ask(ctx, u, aboutHeld(t, mcp.MethodIsMoot, mcp.IsMoot(t.RequestState), with))
}
