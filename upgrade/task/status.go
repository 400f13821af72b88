package task

import "berth/internal/mcp"

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

// Status is the state as 2025-11-25 spells it. A legacy call that asks while it runs waits
// for input; see ExtensionStatus.
func (t *Task) Status() string {
	switch {
	case t.State == Dispatched && len(t.OpenAsks()) > 0:
		return string(InputRequired)
	case t.Waiting(), t.State == Dispatched:
		return working
	}
	return string(t.State)
}

// working is the status of a task that has not ended and asks for nothing.
const working = "working"
