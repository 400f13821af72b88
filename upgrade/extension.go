package upgrade

import (
	"fmt"

	"berth/internal/mcp"
	"berth/upgrade/task"
)

// Handle returns the task as the result of the call that it was made for, in the dialect
// of the Tasks extension.
func (v View) Handle() []byte {
	shown := v.shown()
	return shown.Handle()
}

// Response returns the response to a tasks/get under this raw JSON-RPC id, in the dialect of
// the Tasks extension. It is whole until the view is returned.
func (v View) Response(id []byte) mcp.Parts {
	shown := v.shown()
	return shown.Response(id)
}

// Notification tells the subscription with this raw id of the task. It is whole until the view
// is returned.
func (v View) Notification(id []byte) mcp.Parts {
	shown := v.shown()
	return shown.Notification(id)
}

func (v View) shown() mcp.TaskView {
	shown := mcp.TaskView{
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
func (v View) shownMessage() string {
	if v.Place > 0 {
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
