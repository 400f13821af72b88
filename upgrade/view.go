package upgrade

import (
	"cmp"
	"fmt"

	"berth/internal/mcp"
	"berth/internal/mcp/taskwire"
	"berth/upgrade/lending"
	"berth/upgrade/task"
)

// View is a task as its client may see it.
type View struct {
	task.Task
	Outcome []byte // the result or the error, once there is one
	Inputs  []byte // what it waits for between two rounds, as one JSON object
	Place   int    // in the queue, from 1; 0: in none
	Paused  bool   // the queue is, by an operator

	lent *lending.Loan // nil: these are the view's own
}

// saysFailed is the statusMessage of a task whose tool failed and said so in its result.
const saysFailed = "the tool reports that it failed; its result says more"

// errNoOutcome is what is told in place of the outcome of a task that has none.
var errNoOutcome = &mcp.Error{Code: mcp.CodeInternal, Message: "the task was cancelled"}

// Core returns the task in the dialect of 2025-11-25. A tool that failed has failed its
// task there ("Task Status").
func (v *View) Core() taskwire.Core {
	shown := taskwire.Core{
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
func (v *View) CoreResponse(id []byte) mcp.Parts {
	switch v.State {
	case task.Completed:
		return taskwire.RelatedResponse(id, v.Outcome, v.ID)
	case task.Failed:
		return mcp.ErrorParts(id, v.Outcome)
	}
	return mcp.Parts{errNoOutcome.Body(id)}
}

// Handle returns the response to the call that the task was made for, under its raw JSON-RPC id, in the
// dialect of the Tasks extension.
func (v *View) Handle(id []byte) []byte {
	shown := v.shown()
	return shown.Handle(id)
}

// Response returns the response to a tasks/get under this raw JSON-RPC id, in the dialect of
// the Tasks extension. It is whole until the view is returned.
func (v *View) Response(id []byte) mcp.Parts {
	shown := v.shown()
	return shown.Response(id)
}

// Notification tells the subscription with this raw id of the task. It is whole until the view
// is returned.
func (v *View) Notification(id []byte) mcp.Parts {
	shown := v.shown()
	return shown.Notification(id)
}

func (v *View) shown() taskwire.View {
	shown := taskwire.View{
		ID: v.ID, Status: v.ExtensionStatus(), Message: v.shownMessage(), Created: v.Created, Updated: v.Updated,
		TTL: v.Terms.TTL, PollInterval: v.Terms.PollInterval, Inputs: v.Inputs,
	}
	switch v.State {
	case task.Completed:
		shown.Result = v.Outcome
	case task.Failed:
		shown.Error = v.Outcome
	}
	return shown
}

// shownMessage is the statusMessage: while a call waits for its turn, which that is.
func (v *View) shownMessage() string {
	switch {
	case v.Place > 0 && v.Paused:
		return "queued, " + ordinal(v.Place) + "; paused"
	case v.Place > 0:
		return "queued, " + ordinal(v.Place)
	}
	return v.Message
}

// ordinal spells a place in a queue.
func ordinal(n int) string {
	suffix := "th"
	switch n % 10 {
	case 1:
		suffix = "st"
	case 2:
		suffix = "nd"
	case 3:
		suffix = "rd"
	}
	if n%100 >= 11 && n%100 <= 13 {
		suffix = "th"
	}
	return fmt.Sprintf("%d%s", n, suffix)
}

// Return notes that the client has what the view shows, or will not have it. It is called
// once for each view that Get returned.
func (v *View) Return() {
	if v.lent != nil {
		v.lent.Return()
	}
}
