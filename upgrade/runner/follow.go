package runner

import (
	"context"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/taskwire"
	"berth/routing"
	"berth/upgrade/task"
)

// withdrawTime bounds what giving up an upstream's task may take. It is a courtesy.
const withdrawTime = 2 * time.Second

// follow begins to keep to the task that r hands out.
func (rd *round) follow(ctx context.Context, u *routing.Upstream, r *reply) (again bool, err error) {
	made, err := taskwire.ReadFollowed(r.Result)
	if err != nil || r.Dialect != mcp.DialectExtension {
		return false, task.BadUpstream("the server made a task that cannot be followed")
	}
	f := &follower{rd: rd, u: u, id: made.ID}
	defer f.leave(ctx)
	op := rd.l.Op(task.Follow)
	op.Upstream, op.Follows, op.Round = u.Name, made.ID, rd.due
	if err := rd.must(ctx, op); err != nil {
		return false, err
	}
	if lacksOutcome(made) {
		if made, err = f.poll(ctx); err != nil {
			return false, err
		}
	}
	return f.keep(ctx, made)
}

// lacksOutcome reports whether a task has ended of which it is not told how: a handle has no place for that.
func lacksOutcome(t taskwire.Followed) bool {
	return t.Status == "completed" && t.Result == nil || t.Status == "failed" && t.Error == nil
}

// rejoin goes on with a task of an upstream's: with the client's answers, or after the
// death of who followed it before.
func (rd *round) rejoin() (again bool, err error) {
	t := rd.record()
	ctx := rd.bounded()
	defer ctx.End()
	u := rd.r.Pools.Owner(ctx, t)
	if u == nil {
		return false, task.NoUpstream("the server that has the task is not in the pool any more", mcp.Unknown)
	}
	defer rd.room.Give()
	f := &follower{rd: rd, u: u, id: t.Follows}
	defer f.leave(ctx)
	op := rd.l.Op(task.Dispatch)
	op.Upstream, op.Round = u.Name, t.Round
	rd.due = t.Round + 1
	if err := rd.must(ctx, op); err != nil {
		return false, err
	}
	var refusal *reply
	if t, err = rd.whole(ctx, t); err != nil {
		return false, err
	}
	if answers := t.Answers(); t.Answered && len(answers) > 0 {
		r, err := f.ask(ctx, mcp.MethodUpdateTask, answers)
		if err != nil {
			return false, err
		}
		if r.IsError {
			refusal = r
		}
	}
	state, err := f.poll(ctx)
	switch {
	case err != nil:
		return false, err
	case refusal != nil && f.stands(state):
		return false, f.refused(refusal, nil)
	}
	return f.keep(ctx, state)
}

// Withdraw gives up what a cancelled task had at its upstream while nobody held it, with what authorises who cancels it: the task that
// it followed, or the call that waits there, from that requestState on, for its client.
func (r *Runner) Withdraw(ctx context.Context, before *task.Task, state []byte, with *task.Envelope) {
	pool := r.Pools.Get(before.Pool)
	if before.Follows == "" && len(state) == 0 || before.Holder != "" || pool == nil || with == nil {
		return
	}
	if before.Follows == "" {
		r.giveUp(ctx, before, state, *with, errCancelled)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	u := r.Pools.Owner(ctx, before)
	if u == nil {
		return
	}
	c := aboutTheirs(before.Follows, "berth-"+task.NewName(9), mcp.MethodCancelTask, before.Version, nil)
	c.Envelope = *with
	ex, err := pool.Transport.Send(ctx, u, c, before.Terms.MaxResult)
	if err != nil {
		r.Log.Debug("a task of an upstream's could not be cancelled", "upstream", u.Name, "error", err)
		return
	}
	defer ex.Close()
	_, _ = ex.Next() // whatever it says, it has been told
}

// giveUp tells the upstream of a task's call that it is given up, and why, which that holds, or may hold, from that requestState on.
func (r *Runner) giveUp(ctx context.Context, t *task.Task, state []byte, with task.Envelope, why error) {
	pool := r.Pools.Get(t.Pool)
	if pool == nil || pool.Transport.GiveUp == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	u := r.Pools.Owner(ctx, t)
	if u == nil {
		return
	}
	if err := pool.Transport.GiveUp(ctx, u, aboutHeld(t, mcp.MethodCancelled, mcp.CancelledState(state, mcp.WhyCancelled(why)), with)); err != nil {
		r.Log.Debug("a call that an upstream holds could not be given up", "upstream", u.Name, "error", err)
	}
}

// aboutHeld is a notification about a task's call to who holds that while its client is asked.
func aboutHeld(t *task.Task, method string, body []byte, with task.Envelope) *task.Call {
	return &task.Call{Principal: t.Principal, Envelope: with, Body: body, Own: task.Pairs{
		"Accept", "application/json, text/event-stream", "Content-Type", "application/json",
		mcp.HeaderVersion, t.Version, mcp.HeaderMethod, method,
	}}
}
