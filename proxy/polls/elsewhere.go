package polls

import (
	"context"

	"berth/internal/mcp"
	"berth/proxy/inbound"
	"berth/sticky"
)

// IfDenied is the answer to c, which is about one task, in the place of an owner that denies it: the task's end, if that is
// known; nil: there is none. untold is set where c's caller was told of the task before it ended, and the store knows that it has: another
// berth may tell of what came of it, and there is no such task only once its time is over. What came of a task that is not completed may be
// the error of its call, as the owner says it (2025-11-25, tasks, "Result Retrieval").
func (s *StaleCache) IfDenied(ctx context.Context, c *inbound.Call) (end []byte, untold bool) {
	if end := s.End(c); end != nil {
		return end, false
	}
	t, _, ok := s.last(c)
	if !ok || !c.MayPoll || t.ended || t.result() == "" {
		return nil, false
	}
	status := EndElsewhere(ctx, c)
	if status == "" {
		return nil, false
	}
	switch one := c.Single(); {
	case one.Method == mcp.MethodGetTask:
		end = t.asEnded(one, status)
	case status != "completed":
		return nil, false
	}
	return end, end == nil
}

// EndElsewhere is how the task that c is about has ended, as far as the store has been told; "": nobody knows of an end.
func EndElsewhere(ctx context.Context, c *inbound.Call) string {
	binding, err := c.Endpoint.Router.Bindings.Latest(ctx, c.TaskKey())
	if err != nil || !sticky.HasEnded(&binding) {
		return ""
	}
	return binding.Status
}

// asEnded is the answer to a tasks/get about a task that was last seen before it ended; nil where that is not whole without
// what came of the task: the extension tells that with the end (ext-tasks, "Getting Tasks").
func (t *staleTask) asEnded(one *mcp.Call, status string) []byte {
	if one.Era != mcp.EraLegacy && status != "cancelled" {
		return nil
	}
	result := mcp.AsEnded([]byte(t.result()), status, "The server instance that holds this task told of this end before, and does not tell of the task now.")
	if result == nil {
		return nil
	}
	return mcp.Response(one.ID, result)
}
