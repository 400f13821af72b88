package proxy

import (
	"berth/internal/mcp"
	"berth/internal/wire"
)

// recordAnswered notes that the upstream has taken a client's response to what a held call
// asks, before the client learns so: from then on nobody is asked for it again. A response
// that the upstream did not take leaves the ask open. What answers something else, or comes
// late, is none of a task's.
func (x *request) recordAnswered(response *wire.Response) {
	if response.Status/100 != 2 || !x.IsResponse() || !x.mayHoldCalls() {
		return
	}
	id := mcp.ID(x.Body) // a tag may be off by now
	if id == nil {
		return
	}
	ctx, cancel := x.Recording()
	defer cancel()
	x.p.options.Tasks.SettleIn(ctx, x.behind(), id)
}

// mayReply refuses a client's response to what a held call asks whose task the client may
// not ask for. What answers something else is its upstream's to judge, and so is everything
// while the store is away. The request must be routed.
func (x *request) mayReply() error {
	if !x.IsResponse() || x.Principal != "" || !x.mayHoldCalls() {
		return nil
	}
	answered := mcp.ID(x.Body)
	if answered == nil {
		return nil
	}
	tasks := x.p.options.Tasks
	id, err := tasks.AskedIn(x.ctx, x.behind(), answered)
	if err != nil || id == "" {
		return nil
	}
	task, err := tasks.Peek(x.ctx, id, x.Asker())
	if err != nil {
		return nil
	}
	return x.caller().MayAsk(x.ctx, task)
}
