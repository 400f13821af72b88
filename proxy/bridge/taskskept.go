package bridge

import (
	"berth/internal/mcp"
)

// capability is whether an upstream has one.
type capability uint8

const (
	unknownYet capability = iota
	present
	missing
)

// noteTasks notes from the result of an initialize whether calls of tools may become tasks, and whether these can be cancelled.
func (f *face) noteTasks(initialized []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tasks, f.cancels = missing, missing
	if mcp.HasCoreTasks(initialized) {
		f.tasks = present
	}
	if mcp.HasCapability(initialized, "tasks", "cancel") {
		f.cancels = present
	}
}

// lacksTasks reports whether the upstream is known to have no tasks.
func (f *face) lacksTasks() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tasks == missing
}

// lacksCancel reports whether the upstream is known not to cancel tasks.
func (f *face) lacksCancel() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cancels == missing
}
