package bridge

import (
	"bytes"
	"context"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
)

// untilAsked is how long a server that wants input is waited for to say which. It is asked again
// with the next poll.
const untilAsked = 250 * time.Millisecond

// collect has the server tell what the task asks: on the stream of a tasks/result, which is
// cancelled then (2025-11-25, tasks, "Input Required Status"). A server tells each question to one
// such request alone, so that no other may go on listening.
func (t *task) collect(ctx context.Context, known bool) ([]question, error) {
	id := newID()
	body, err := requestOf(id, mcp.MethodTaskResult, map[string]any{"taskId": t.core})
	if err != nil {
		return nil, err
	}
	fl := &flow{f: t.c.f, out: t.c.out, l: t.l, id: id, items: make(chan item)}
	fl.event.Store("")
	fl.ctx, fl.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer fl.stop()
	heads := make(chan begun, 1)
	go func() {
		response, err := fl.f.send(fl.ctx, fl.out, fl.l, wire.MethodPost, body, 0)
		heads <- begun{response, err}
	}()
	go fl.runWhen(heads)
	wait := untilAsked
	if known {
		wait = together
	}
	asked, over := t.hear(ctx, fl, id, nil, wait)
	if over {
		return asked, nil
	}
	t.tell(ctx, mcp.Cancelled(id, "what is asked was heard"))
	asked, _ = t.hear(ctx, fl, id, asked, together) // what it had told before it heard of that
	return asked, nil
}

// hear reads what is asked until nothing has come for a while. over says that nothing will.
func (t *task) hear(ctx context.Context, fl *flow, id []byte, asked []question, wait time.Duration) (_ []question, over bool) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for len(asked) < mcp.MaxInputs {
		select {
		case <-ctx.Done():
			return asked, false
		case <-timer.C:
			return asked, false
		case it := <-fl.items:
			a := &it.answer
			switch {
			case it.message == nil, a.Answers(id):
				return asked, true
			case a.Method == mcp.MethodCancelled:
				asked = t.c.f.b.withdrawn(asked, mcp.CancelledID(it.message))
			case a.Method == "" || a.ID == nil:
			case a.Method == mcp.MethodPing:
				t.tell(ctx, mcp.Response(bytes.Clone(a.ID), []byte("{}")))
			default:
				id := bytes.Clone(a.ID)
				asked = append(asked, question{Key: keyOf(id), ID: id, request: it.message})
				timer.Reset(together)
			}
		}
	}
	return asked, false
}
