package tasks

import (
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/upgrade"
)

// serveCore answers a request about a task of berth's own making as 2025-11-25 has it.
// Whatever session it comes in, if there is such a one: a client that began a new one may
// ask for what it made in the one before.
func (r *Request) serveCore(ctx context.Context, c *mcp.Call) error {
	if err := CheckServed(r.Call, r.Rec); err != nil {
		return err
	}
	if err := r.Root.UseSession(); err != nil {
		return err
	}
	switch c.Method {
	case mcp.MethodTaskResult:
		return r.awaitResult(ctx)
	case mcp.MethodCancelTask:
		return r.cancelCore(ctx)
	}
	view, err := r.Face.Tasks.Reader.Glance(ctx, c.TaskID, r.Asker())
	if err := r.mayHear(ctx, view.Task, err); err != nil {
		return err
	}
	r.Face.Tasks.Polls.Note(c.TaskID)
	r.Out.Respond(wire.StatusOK, mcp.Response(r.ID, view.Core().Task()))
	return nil
}

// cancelCore gives up a task that has not ended, and answers with the task.
func (r *Request) cancelCore(ctx context.Context) error {
	task, err := r.cancel(ctx)
	view := upgrade.View{Task: task}
	shown := view.Core()
	switch {
	case errors.Is(err, upgrade.ErrTerminal):
		return &mcp.Error{ // 2025-11-25, tasks, "Error Handling"
			Status: wire.StatusOK, Code: mcp.CodeInvalidParams,
			Message: "Cannot cancel task: already in terminal status '" + shown.Status + "'",
		}
	case err != nil:
		return err
	}
	r.Out.Respond(wire.StatusOK, mcp.Response(r.ID, shown.Task()))
	return nil
}
