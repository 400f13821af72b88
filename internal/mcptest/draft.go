package mcptest

import (
	"context"
	"time"
)

// relatedTask is the metadata of every message about a task in the first draft of tasks
// (SEP-1686, 4.7).
func relatedTask(id string) map[string]any {
	return map[string]any{"modelcontextprotocol.io/related-task": map[string]any{"taskId": id}}
}

// draft are a server's tasks of the first draft.
type draft struct{ *Server }

// tool runs a tool as a task of an id that the client made. The call is answered
// with the tool's own result, when that is there; meanwhile, and afterwards, the task
// can be polled. A client that hangs up leaves it running.
func (s draft) tool(ctx context.Context, sessionID string, c call) (any, *failure) {
	t, fail := s.startTask(c, sessionID, 0)
	if fail != nil {
		return nil, fail
	}
	if _, _, err := s.tasks.wait(context.WithoutCancel(ctx), t.id, sessionID, s.closed()); err != nil {
		return nil, &failure{Code: codeInternal, Message: err.Error()}
	}
	return s.result(t.id, sessionID, time.Now())
}

func (s draft) has(id, sessionID string, now time.Time) bool {
	t, ok := s.tasks.get(id, sessionID, now)
	return ok && t.draft
}

// result does not wait: what is not completed has no result (SEP-1686, 4.6).
func (s draft) result(id, sessionID string, now time.Time) (any, *failure) {
	t, ok := s.tasks.get(id, sessionID, now)
	if !ok {
		return nil, s.unknownTask("tasks/result")
	}
	if t.status(now) != statusCompleted {
		return nil, &failure{Code: codeInvalidParams, Message: "the task is not completed"}
	}
	result := s.computed(t.label)
	result.Meta = relatedTask(id)
	return result, nil
}

func (s draft) delete(sessionID, id string) (any, *failure) {
	if !s.tasks.remove(id, sessionID, time.Now()) {
		return nil, s.unknownTask("tasks/delete")
	}
	return map[string]any{"_meta": relatedTask(id)}, nil
}

// cancel heeds the notification by which this draft cancels a task. Real servers go
// by the id of its request; this one reads the task, which is there as well.
func (s draft) cancel(sessionID string, c call) {
	if id := c.Params.Meta.RelatedTask.TaskID; c.Method == "notifications/cancelled" && id != "" {
		s.tasks.cancel(id, sessionID, time.Now())
	}
}

// draftView is a task as the first draft shows it (SEP-1686, 6).
func draftView(t task, now time.Time) any {
	return map[string]any{
		"taskId": t.id, "status": t.status(now), "keepAlive": t.ttl.Milliseconds(),
		"pollFrequency": t.poll.Milliseconds(), "_meta": relatedTask(t.id),
	}
}
