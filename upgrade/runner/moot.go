package runner

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/internal/mcp/taskwire"
	"berth/routing"
	"berth/upgrade/task"
)

// IsMoot reports whether the upstream is known to wait for none of the answers any more that a task's client is asked for. with is what
// authorises that question.
func (r *Runner) IsMoot(ctx context.Context, t *task.Task, with task.Envelope) bool {
	pool := r.Pools.Get(t.Pool)
	if pool == nil || pool.Transport.IsMoot == nil || t.State != task.InputRequired || t.Follows != "" || len(t.RequestState) == 0 {
		return false
	}
	state, err := r.ledger.Records.State(ctx, t)
	if err != nil {
		return false
	}
	u := r.Pools.Owner(ctx, t)
	if u == nil {
		return false
	}
	c := aboutHeld(t, mcp.MethodIsMoot, mcp.IsMoot(state), with)
	c.Until = r.ledger.Expires(t)
	return pool.Transport.IsMoot(ctx, u, c)
}

// News asks the upstream how its task is, which a task whose client is asked follows. It returns the step that is to be taken for that,
// nil where all is as the client was told, and how long the upstream wants to be left alone, 0 if it does not say. with is what authorises the request. It fails as
// Transport.Ask does, and with task.ErrGarbled.
func (r *Runner) News(ctx context.Context, t *task.Task, with task.Envelope) (op *task.Op, interval time.Duration, err error) {
	u := r.Pools.Owner(ctx, t)
	if u == nil {
		return nil, 0, task.NoUpstream("the server that has the task is not in the pool any more", mcp.Unknown)
	}
	state, gone, err := r.ask(ctx, u, t, with)
	if err != nil {
		return nil, 0, err
	}
	op = r.ledger.Op(task.Moot)
	op.Round = t.Round
	if gone || state.Status != "input_required" {
		return op, state.PollInterval, nil
	}
	shown, changed := asksOf(t, state.Asks)
	switch {
	case !changed:
		return nil, state.PollInterval, nil
	case slices.ContainsFunc(shown, func(in inquiry.Input) bool { return !hasAnswer(t, in) }) && unaskable(shown) == nil && undeclared(t.Declares, shown) == nil &&
		task.SizeOf(shown) <= task.MaxAskBytes && r.ledger.Quota.Take(t.ID, t.Weight()+task.SizeOf(shown), 0):
		op.Asks, op.Message = shown, state.Message
	}
	return op, state.PollInterval, nil
}

// ask asks for an upstream's task, that t follows. gone says that it knows of none.
func (r *Runner) ask(ctx context.Context, u *routing.Upstream, t *task.Task, with task.Envelope) (state taskwire.Followed, gone bool, err error) {
	id := "berth-" + task.NewName(9)
	c := aboutTheirs(t.Follows, id, mcp.MethodGetTask, t.Version, nil)
	c.Envelope = with
	ex, err := r.Pools.Get(t.Pool).Transport.Ask(ctx, u, c, t.Terms.MaxResult)
	if err != nil {
		return state, false, err
	}
	defer ex.Close()
	for {
		m, err := next(ex)
		if err != nil {
			return state, false, err
		}
		a, err := mcp.PeekAnswer(m.Data, false)
		switch {
		case err != nil, a.Method != "", !a.Answers(strconv.AppendQuote(nil, id)):
			if m.Whole {
				return state, false, task.ErrGarbled
			}
		case a.IsError && isFinal(a.ErrorCode):
			return state, true, nil
		case a.IsError:
			return state, false, task.ErrGarbled
		default:
			state, err = taskwire.ReadFollowed(bytes.Clone(a.Result))
			if err != nil || state.ID != t.Follows {
				err = task.ErrGarbled
			}
			return state, false, err
		}
	}
}

// hasAnswer reports whether the client has answered what is asked.
func hasAnswer(t *task.Task, in inquiry.Input) bool {
	ask := t.AskOf(in)
	return ask != nil && ask.Answer != nil
}

// asksOf is what of these a task's client is to be asked, and whether that is something else, or in other words, than it is asked by now.
// What was asked in a round before is answered, or was withdrawn: upstreams may show that for a moment more.
func asksOf(t *task.Task, asks []inquiry.Input) (shown []inquiry.Input, changed bool) {
	standing := 0
	for _, in := range asks {
		ask := t.AskOf(in)
		switch {
		case ask != nil:
			standing++
			changed = changed || ask.IsReworded(in)
			shown = append(shown, in)
		case !slices.Contains(t.Asked, in.Key):
			shown = append(shown, in)
		}
	}
	return shown, changed || standing != len(t.Asks) || len(shown) != standing
}

// AsksAnew reports whether a step has a task's client be asked what it was not asked before.
func AsksAnew(t *task.Task, op *task.Op) bool {
	return slices.ContainsFunc(op.Asks, func(in inquiry.Input) bool { return t.AskOf(in) == nil })
}
