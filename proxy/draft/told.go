package draft

import (
	"errors"
	"slices"

	"berth/internal/mcp"
	"berth/routing"
	"berth/sticky"
)

// Observe confirms a task before a message is released by which u tells of it. What belongs to
// other tasks is looked up once.
func (t *Tasks) Observe(u *routing.Upstream, message []byte) {
	if !t.Call.Drafts {
		return
	}
	id := mcp.RelatedTask(message)
	if id == "" || id == t.told {
		return
	}
	t.told = id
	_ = t.confirm(u, id, "") // what else the message says is not of the task
}

// Told confirms the task that the request is about, if a client may have made its id, with the
// status that u tells.
func (t *Tasks) Told(u *routing.Upstream, status string) error {
	standing := t.At.TaskBinding()
	if !standing.Provisional() && (standing.Upstream != "" || !t.Call.Endpoint.FirstDraft) {
		return nil
	}
	return t.confirm(u, t.At.Task.ID, status)
}

// confirm binds the task for good, if its binding is provisional and u's, now that u tells
// of it. It fails if the task is another principal's by now.
func (t *Tasks) confirm(u *routing.Upstream, id, status string) error {
	ctx, cancel := t.Call.Recording()
	defer cancel()
	router := t.Call.Endpoint.Router
	key := router.TaskKey(t.Call.Principal, id)
	binding, _, err := router.LookUp(ctx, key)
	switch {
	case err == nil && binding.Provisional() && binding.Upstream == u.Name:
		return router.Confirm(ctx, key, binding, status)
	case errors.Is(err, sticky.ErrUnknown) && t.makes(id): // it was given up meanwhile
		return router.Confirm(ctx, key, t.provisional(u), status)
	}
	return nil
}

// makes reports whether a call of the request makes the task with this id.
func (t *Tasks) makes(id string) bool {
	return slices.ContainsFunc(t.Call.Message.Calls, func(c mcp.Call) bool { return c.MakesTask() && c.NewTaskID == id })
}
