package stdio

import (
	"maps"
	"slices"
	"time"

	"berth/internal/mcp"
)

// byNumber are calls by the number that a process knows them by: those in flight, or those that have made a task.
type byNumber map[int64]*call

// asker returns the call for which a process, which has these sessions, asks something or says it; nil if none is in
// flight that may have it ask. ambiguous says that several sessions have one, one that was left among them; or that a call of another
// session than the process has was left. What is about a task
// says so (2025-11-25, tasks, "Associating Task-Related Messages"), and belongs to the call that
// waits for its result; nothing else does.
func (calls byNumber) asker(taskID string, left *leftCalls, sessions map[*session]struct{}) (asker *call, ambiguous bool) {
	for _, number := range slices.Sorted(maps.Keys(calls)) {
		c := calls[number]
		switch {
		case !c.mayAsk():
			continue
		case isOfTask(c) && taskID != "" && c.taskID == taskID:
			return c, false
		case isOfTask(c):
			continue
		case asker != nil && asker.session != c.session:
			ambiguous = true
		}
		asker = c
	}
	switch {
	case ambiguous, asker != nil && left.ofOthers(asker.session):
		return nil, true
	case asker != nil:
		return asker, false
	}
	for session := range sessions {
		if left.ofOthers(session) {
			return nil, true
		}
	}
	return nil, false
}

// isOfTask reports whether a call waits for a task: what is asked for that says so.
func isOfTask(c *call) bool { return c.method == mcp.MethodTaskResult }

// only is the one call of a client's; nil: there is none, or there are several.
func (calls byNumber) only() (only *call) {
	for _, c := range calls {
		switch {
		case c.session == nil:
		case only != nil:
			return nil
		default:
			only = c
		}
	}
	return only
}

// waitSince is when the call began that has been in flight for the longest time; zero: none is.
func (calls byNumber) waitSince() (first time.Time) {
	for _, c := range calls {
		if c.session != nil && (first.IsZero() || c.begun.Before(first)) {
			first = c.begun
		}
	}
	return first
}

// keep remembers of a call that it has made a task, which its client waits for until then: what the process says of that is for that client.
func (calls byNumber) keep(c *call, taskID string, until time.Time) {
	if len(calls) == maxTasks {
		delete(calls, slices.Min(slices.Collect(maps.Keys(calls))))
	}
	calls[c.number] = &call{session: c.session, number: c.number, token: c.token, taskID: taskID, awaited: until}
}

// noteAnswer notes what the process answers about a task: its client waits until it has the outcome, as long as it asks again until then.
func (calls byNumber) noteAnswer(c *call, a *mcp.Answer, until time.Time) {
	for _, made := range calls {
		switch {
		case made.taskID != c.taskID:
		case c.method == mcp.MethodTaskResult, a.Task.Status == "cancelled", a.ErrorCode == mcp.CodeInvalidParams:
			made.awaited = time.Time{}
		default:
			made.awaited = until
		}
	}
}

// owner returns the call that made a task, nil if none did whose session stands.
func (calls byNumber) owner(taskID string) *call {
	for _, c := range calls {
		if c.taskID == taskID && !c.session.over {
			return c
		}
	}
	return nil
}
