package probe

import (
	"context"
	"encoding/json"

	"berth/internal/mcp"
)

// legacy makes the checks of the legacy era: sessions, if the server has any, and core
// tasks, in sessions or without.
func (r *run) legacy(ctx context.Context, first *handshake) {
	if first.session == nil {
		r.skip(first.Version, checkSessions, "the server hands out no sessions")
		r.wire.notify(ctx, scope{version: first.Version}, mcp.MethodInitialized)
		scopes := make([]scope, r.options.Rounds)
		for i := range scopes {
			scopes[i].version = first.Version
		}
		r.coreTasks(ctx, first, scopes)
		return
	}
	open := r.openSessions(ctx, first)
	r.use(ctx, open)
	r.standing(ctx, holding(open))
	var scopes []scope
	for _, s := range holding(open) {
		scopes = append(scopes, s.scope)
	}
	r.coreTasks(ctx, first, scopes)
	r.endAll(ctx, holding(open))
	r.countSessions(first.Version, open)
}

// coreTasks makes one task in each scope and asks for it.
func (r *run) coreTasks(ctx context.Context, shook *handshake, scopes []scope) {
	switch {
	case !shook.makesTasks():
		r.skip(shook.Version, checkTasks, "the server declares no tasks of tool calls")
		return
	case len(scopes) == 0:
		r.skip(shook.Version, checkTasks, "no session held until a task could be made")
		return
	}
	tasks := r.makeTasks(ctx, scopes)
	if len(tasks) == 0 {
		return
	}
	r.pollAll(ctx, tasks)
	r.secondAddress(ctx, tasks)
	if shook.listsTasks() {
		r.lists(ctx, tasks)
	}
	r.results(ctx, tasks)
	r.cancelAll(ctx, tasks)
}

// lists asks for the tasks where some were made: each must be in it.
func (r *run) lists(ctx context.Context, tasks []*task) {
	for _, t := range shuffled(tasks)[:min(len(tasks), streams)] {
		if !t.inReach() {
			continue
		}
		answered := r.wire.request(ctx, t.scope, mcp.MethodListTasks, nil)
		if answered.noMethod() {
			r.skip(t.scope.version, checkLists, "the server has no tasks/list")
			return
		}
		c := r.check(t.scope.version, checkLists)
		if r.bookTask(c, t, answered) == held && !t.expired() && !lists(answered.answer.Result, t.ID) {
			r.lose(c, 1, "the list lacks the task")
		}
	}
}

// lists reports whether a page of tasks names one, or may do so on the next page.
func lists(result json.RawMessage, id string) bool {
	var page struct {
		Tasks []struct {
			ID string `json:"taskId"`
		} `json:"tasks"`
		Next string `json:"nextCursor"`
	}
	if json.Unmarshal(result, &page) != nil {
		return false
	}
	for _, t := range page.Tasks {
		if t.ID == id {
			return true
		}
	}
	return page.Next != ""
}
