package bridge

import (
	"context"

	"berth/internal/mcp"
	"berth/internal/mcp/taskwire"
	"berth/internal/wire"
	"berth/proxy/bridge/rounds"
)

// serveTask answers tasks/get, tasks/update and tasks/cancel.
func (c *call) serveTask(ctx context.Context) (*wire.Response, error) {
	switch {
	case c.f.tasks.Support.Lacks():
		return nil, errNoMethod
	case !c.DeclaresTasks:
		return nil, mcp.ErrMissingTasks
	case !c.HasTaskID:
		return nil, mcp.ErrNoTaskID
	}
	t, err := c.f.tasks.Open(ctx, &c.who, c.TaskID)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	return t.Answer(ctx, c.Method, c.id)
}

// asTask returns the body of a tool's call as it is sent: as one that becomes a task where its tool takes
// part in tasks, as support says, and its client knows the extension.
func asTask(c *mcp.Call, support string, body []byte) (_ []byte, becomes bool, err error) {
	switch {
	case support != taskwire.Required && support != taskwire.Optional:
		return body, false, nil
	case c.DeclaresTasks:
		body, err = taskwire.AsTask(body)
		return body, true, err
	case support == taskwire.Required:
		return nil, false, mcp.ErrMissingTasks
	}
	return body, false, nil
}

// needsTasks reports whether a call that goes on comes to a task, which only a client gets that knows the extension.
func (c *call) needsTasks(st *rounds.State) bool {
	return st.Tasked || st.Unsent && c.Method == mcp.MethodCallTool && c.f.tools.Support(c.Name) == taskwire.Required
}
