package upgrade

import "berth/internal/mcp"

// Handle returns the task as the result of the call that it was made for, in the dialect
// of the Tasks extension.
func (v View) Handle() []byte {
	shown := v.shown()
	return shown.Handle()
}

// Detailed returns the task as the result of tasks/get, in the dialect of the Tasks
// extension.
func (v View) Detailed() []byte {
	shown := v.shown()
	return shown.Detailed()
}

func (v View) shown() mcp.TaskView {
	shown := mcp.TaskView{
		ID: v.ID, Status: v.Status(), Message: v.shownMessage(), Created: v.Created, Updated: v.Updated,
		TTL: v.Terms.TTL, PollInterval: v.Terms.PollInterval, Asks: v.Outstanding(),
	}
	switch v.State {
	case Completed:
		shown.Result = v.Outcome
	case Failed:
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
