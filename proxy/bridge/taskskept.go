package bridge

import (
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/proxy/bridge/legacy"
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

// lendOf lends the session that a task lives in, whoever has it: what is asked about a task disturbs
// no call. One that another berth has opened is not this one's to end.
func (c *call) lendOf(id string, opened *exchange.Request) *loan {
	f := c.f
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.shelves {
		for _, l := range s.loans {
			if l.ID == id && id != "" {
				l.users++
				return l
			}
		}
	}
	return &loan{Session: legacy.Session{At: f.u, ID: id, Version: legacy.Version, Opened: opened}, f: f, level: -1, users: 1, gone: true}
}

// maxTasks bounds how many tasks of a session are remembered. Of more, those that live longest keep
// it open.
const maxTasks = 1000

// keepTask keeps the session open for a task of its own until that has ended or expired.
func (l *loan) keepTask(core string, until time.Time) {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	if l.tasks == nil {
		l.tasks = map[string]time.Time{}
	}
	l.tasks[core] = until
	if len(l.tasks) > maxTasks {
		first := core
		for other, at := range l.tasks {
			if at.Before(l.tasks[first]) {
				first = other
			}
		}
		delete(l.tasks, first)
	}
}

// forgetTask undoes keepTask.
func (l *loan) forgetTask(core string) {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	delete(l.tasks, core)
}

// hasTasks reports whether tasks of the session live, as far as this berth knows. The caller holds
// f.mu.
func (l *loan) hasTasks() bool {
	for core, until := range l.tasks {
		if time.Now().Before(until) {
			return true
		}
		delete(l.tasks, core)
	}
	return false
}
