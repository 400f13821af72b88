package upgrade

import (
	"cmp"
	"context"

	"berth/internal/mcp"
	"berth/upgrade/task"
)

// saysFailed is the statusMessage of a task whose tool failed and said so in its result.
const saysFailed = "the tool reports that it failed; its result says more"

// errNoOutcome is what is told in place of the outcome of a task that has none.
var errNoOutcome = &mcp.Error{Code: mcp.CodeInternal, Message: "the task was cancelled"}

// Core returns the task in the dialect of 2025-11-25. A tool that failed has failed its
// task there ("Task Status").
func (v View) Core() mcp.CoreTask {
	shown := mcp.CoreTask{
		ID: v.ID, Status: v.Status(), Message: v.shownMessage(), Created: v.Created, Updated: v.Updated,
		TTL: v.Terms.TTL, PollInterval: v.Terms.PollInterval,
	}
	if v.ToolFailed {
		shown.Status, shown.Message = string(task.Failed), cmp.Or(shown.Message, saysFailed)
	}
	return shown
}

// CoreResponse returns what tasks/result answers, under this raw JSON-RPC id, of a task
// that has ended: exactly what the call returned, with the task's id in the `_meta` of a
// result (2025-11-25, tasks, "Result Retrieval"). It is whole until the view is returned.
func (v View) CoreResponse(id []byte) mcp.Parts {
	switch v.State {
	case task.Completed:
		return mcp.RelatedResponse(id, v.Outcome, v.ID)
	case task.Failed:
		return mcp.ErrorParts(id, v.Outcome)
	}
	return mcp.Parts{errNoOutcome.Body(id)}
}

// Glance returns a task without its outcome, which the core dialect does not show with it.
// Errors are those of Get.
func (t *Tasks) Glance(ctx context.Context, id string, who task.Asker) (View, error) {
	e, err := t.find(ctx, id, who)
	if err != nil {
		return View{}, err
	}
	v := View{Task: e.Task}
	if e.State == task.Queued {
		v.Place = t.ledger.Queues.Position(ctx, &e.Task)
	}
	return v, nil
}
