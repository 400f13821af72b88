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
		ID: v.ID, Status: v.Status(), Message: v.Message, Created: v.Created, Updated: v.Updated,
		TTL: v.Terms.TTL, PollInterval: v.Terms.PollInterval, Asks: v.Outstanding(),
	}
	if v.Place > 0 {
		shown.Message = "queued, " + ordinal(v.Place)
	}
	switch v.State {
	case Completed:
		shown.Result = v.Outcome
	case Failed:
		shown.Error = v.Outcome
	}
	return shown
}
