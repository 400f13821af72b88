package upgrade

import "berth/internal/mcp"

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

// ExtensionStatus is the state as the Tasks extension spells it. What a legacy call asks
// while it runs is answered in its session alone, and not by tasks/update: to clients of the
// extension it works.
func (t *Task) ExtensionStatus() string {
	if t.State == Dispatched {
		return working
	}
	return t.Status()
}

// Outstanding are the open asks as the Tasks extension shows them: those between two
// rounds.
func (t *Task) Outstanding() []mcp.Input {
	if t.State != InputRequired {
		return nil
	}
	var open []mcp.Input
	for _, ask := range t.OpenAsks() {
		open = append(open, mcp.Input{Key: ask.Key, Value: ask.Request})
	}
	return open
}
