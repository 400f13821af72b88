package bridge

import (
	"context"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/bridge/subscriptions"
)

// listen serves subscriptions/listen.
func (c *call) listen(ctx context.Context) (*wire.Response, error) {
	if c.Listen == nil || !c.Listen.IsClear() {
		return nil, errFilter
	}
	if len(c.Listen.TaskIDs()) > 0 && !c.DeclaresTasks && !c.f.tasks.Support.Lacks() {
		return nil, mcp.ErrMissingTasks
	}
	return subscriptions.Serve(ctx, subscriptions.Request{Server: c.f.tasks, Who: &c.who, ID: c.id, Wishes: c.Listen})
}
