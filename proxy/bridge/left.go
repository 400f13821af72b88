package bridge

import (
	"context"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/legacy"
	"berth/proxy/bridge/sessions"
)

// handleTime bounds what a call is read on for that its client has left, until it has become a task.
const handleTime = 10 * time.Second

// cancel tells the upstream that nobody wants the answer any more to a call, which id names in a session, as why says, and gives the session
// back. What the upstream says to that means nothing. A call that becomes a task is cancelled as that (2025-11-25, cancellation: "the tasks/cancel request
// MUST be used").
func (c *call) cancel(l *sessions.Session, fl *flow.Flow, id []byte, why error) {
	ctx := context.Background()
	if !c.tasked {
		_ = l.Tell(ctx, c.who.Out, mcp.Cancelled(id, mcp.WhyCancelled(why)))
		l.Over(fl, "")
		l.GiveBackUnended()
		return
	}
	core, isOver := c.handle(ctx, l, fl, id)
	if core != "" && !c.f.support.LacksCancel() {
		_, _ = l.Ask(ctx, c.who.Out, mcp.MethodCancelTask, map[string]any{"taskId": core})
	}
	l.Over(fl, "")
	if isOver {
		l.GiveBack(false)
	} else {
		l.GiveBackUnended()
	}
}

// handle reads on to the task that the call becomes, as the upstream names it: "" if it becomes none in time. isOver says that it has ended.
// What it asks before is refused.
func (c *call) handle(ctx context.Context, l *sessions.Session, fl *flow.Flow, id []byte) (core string, isOver bool) {
	timer := time.NewTimer(handleTime)
	defer timer.Stop()
	for {
		var it flow.Item
		select {
		case <-timer.C:
			return "", false
		case heard := <-fl.Inbox:
			it = *heard
		case it = <-fl.Items:
		}
		switch a := &it.Answer; {
		case it.Message == nil:
			return "", false
		case a.Method != "" && a.ID != nil:
			l.AskTask(ctx, c.who.Out, "", a.ID, it.Message)
		case a.Method == "" && a.CreatesTask():
			return a.Task.ID, false
		case a.Answers(id):
			return "", true
		}
	}
}

// readWhole reads an answer that is no stream, for as long as its client is there. That to a call which becomes a task is read on then,
// by the flow of what was sent.
func (c *call) readWhole(ctx context.Context, s *sent) ([]byte, error) {
	s.Response = s.Kept() // it may be closed while it is read
	context.AfterFunc(s.flow.Context(), func() { s.Body.Close() })
	heads := make(chan legacy.Begun, 1)
	var message []byte
	go func() {
		var err error
		message, err = legacy.ReadWhole(s.Response)
		heads <- legacy.Begun{Response: wire.Whole(s.Status, message), Err: err}
	}()
	select {
	case head := <-heads:
		return message, head.Err
	case <-ctx.Done():
		go s.flow.RunWhen(heads)
		return nil, context.Cause(ctx)
	}
}
