package draft

import (
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/sticky"
)

// End ends what Bind began, with the request. What was bound for one that nobody got anything
// of is given up, so that the client may try again anywhere.
func (t *Tasks) End() {
	t.leave()
	if !t.sent {
		t.release(t.At.Made...)
	}
}

// Judge gives the tasks up if the status of the answer says that the request was refused.
// What a gateway says in its server's place does not.
func (t *Tasks) Judge(status int) {
	if status >= 300 && status != wire.StatusBadGateway && status != wire.StatusGatewayTimeout {
		t.release(t.At.Made...)
	}
}

// Disown gives up the task of the call that an answer is to, which says that there is no such
// task: an error, or a task of another id. An answer that does not say to which is to all of
// them.
func (t *Tasks) Disown(a *mcp.Answer) {
	if t.bound == nil {
		return
	}
	for i := range t.Call.Message.Calls {
		c := &t.Call.Message.Calls[i]
		if c.MakesTask() && (!a.HasID() || mcp.SameID(a.ID, c.ID)) {
			t.release(t.Call.Endpoint.Router.TaskKey(t.Call.Principal, c.NewTaskID))
		}
	}
}

// release gives up those of the request's own bindings whose owner has not told of the task.
func (t *Tasks) release(keys ...sticky.Key) {
	if t.bound == nil || len(keys) == 0 {
		return
	}
	ctx, cancel := t.Call.Recording()
	defer cancel()
	for _, key := range keys {
		t.Call.Endpoint.Router.ReleaseNew(ctx, key, *t.binding)
	}
}
