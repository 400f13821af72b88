package bridge

import (
	"context"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/bridge/sessions"
)

// serveTask answers tasks/get, tasks/update and tasks/cancel.
func (c *call) serveTask(ctx context.Context) (*wire.Response, error) {
	switch {
	case c.f.tasks.Support.Lacks():
		return nil, errNoMethod
	case !c.DeclaresTasks:
		return nil, mcp.ErrMissingTasks
	}
	t, err := c.f.tasks.Open(ctx, &c.who, c.TaskID)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	return t.Answer(ctx, c.Method, c.id)
}

// asTask returns the body of a call as it is sent: as one that becomes a task where its tool takes
// part in tasks and its client knows the extension.
func (c *call) asTask(l *sessions.Session, body []byte) ([]byte, error) {
	if c.Method != mcp.MethodCallTool || !mcp.HasCoreTasks(l.Result) {
		return body, nil
	}
	switch support := c.f.tools.Support(c.Name); {
	case support != mcp.TaskRequired && support != mcp.TaskOptional:
		return body, nil
	case c.DeclaresTasks:
		c.tasks = l
		return mcp.AsTask(body)
	case support == mcp.TaskRequired:
		return nil, mcp.ErrMissingTasks
	}
	return body, nil
}
