package coretasks

import (
	"bytes"
	"context"
	"slices"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/legacy"
	"berth/proxy/bridge/rounds"
	"berth/proxy/outbound"
)

// untilAsked is how long a server that wants input is waited for to say which. It is asked again
// with the next poll.
const untilAsked = 250 * time.Millisecond

// collect has the server tell what the task asks: on the stream of a tasks/result, which is
// cancelled then (2025-11-25, tasks, "Input Required Status"). A server tells each question to one
// such request alone, so that no other may go on listening. meanwhile, if there is one, is told before that is cancelled.
func (t *Task) collect(ctx context.Context, known bool, meanwhile func(asked []rounds.Question)) ([]rounds.Question, error) {
	id := outbound.NewID()
	body, err := legacy.RequestOf(id, mcp.MethodTaskResult, map[string]any{"taskId": t.core})
	if err != nil {
		return nil, err
	}
	fl := t.l.Read(context.WithoutCancel(ctx), t.who.Out, id)
	defer fl.Stop()
	go fl.RunWhen(t.l.Start(fl.Context(), t.who.Out, body))
	wait := untilAsked
	if known {
		wait = rounds.Together
	}
	asked, over := t.hear(ctx, fl, id, nil, wait)
	withdrawn := t.withdrawn
	defer func() { t.withdrawn = withdrawn }() // a server may withdraw with the request what it asks of each
	if meanwhile != nil {
		meanwhile(asked)
	}
	if over {
		return asked, nil
	}
	t.tell(ctx, mcp.Cancelled(id, "what is asked was heard"))
	asked, _ = t.hear(ctx, fl, id, asked, rounds.Together) // what it had told before it heard of that
	return asked, nil
}

// hear reads what is asked until nothing has come for a while. over says that nothing will.
func (t *Task) hear(ctx context.Context, fl *flow.Flow, id []byte, asked []rounds.Question, wait time.Duration) (_ []rounds.Question, over bool) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for len(asked) < inquiry.MaxInputs {
		select {
		case <-ctx.Done():
			return asked, false
		case <-timer.C:
			return asked, false
		case it := <-fl.Items:
			a := &it.Answer
			switch {
			case it.Message == nil, a.Answers(id):
				return asked, true
			case a.Method == mcp.MethodCancelled:
				t.withdrawn = append(t.withdrawn, mcp.IDKey(mcp.CancelledID(it.Message)))
				asked = t.of.Notes.questions.Withdrawn(asked, mcp.CancelledID(it.Message))
			case a.Method == "" || a.ID == nil:
			case a.Method == mcp.MethodPing:
				t.tell(ctx, mcp.Response(bytes.Clone(a.ID), []byte("{}")))
			default:
				id := bytes.Clone(a.ID)
				t.withdrawn = slices.DeleteFunc(t.withdrawn, func(before string) bool { return before == mcp.IDKey(id) })
				asked = append(asked, rounds.Question{Key: rounds.KeyOf(id), ID: id, Request: it.Message})
				timer.Reset(rounds.Together)
			}
		}
	}
	return asked, false
}
