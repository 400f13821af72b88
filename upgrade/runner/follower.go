package runner

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/internal/mcp/taskwire"
	"berth/internal/timed"
	"berth/routing"
	"berth/upgrade/task"
	"berth/upgrade/transport"
)

const (
	// Bounds of how often an upstream is asked about its task, whatever it says itself.
	followLeast, followMost = 250 * time.Millisecond, 30 * time.Second

	followEvery = time.Second // where it says nothing

	// maxOdd bounds how often in a row an upstream may say something else than how its
	// task is. One that does not answer at all is asked for as long as the call may take.
	maxOdd = 10
)

// follower keeps to a task that an upstream made of a held call though it was not asked
// to: what becomes of that becomes of ours.
type follower struct {
	rd   *round
	u    *routing.Upstream
	id   string // of the upstream's task
	sent int    // requests about it, for their ids
	over bool   // the upstream has ended it

	unanswerable bool // the upstream asks what no client can be asked, or what this one has not declared to answer
}

// keep polls the task until it ends, or asks for something.
func (f *follower) keep(ctx context.Context, state taskwire.Followed) (again bool, err error) {
	for {
		if over, err := f.act(ctx, state); over || err != nil {
			return false, err
		}
		if err := f.wait(ctx, state.PollInterval); err != nil {
			return false, err
		}
		if state, err = f.poll(ctx); err != nil {
			return false, err
		}
	}
}

// act does what the state of the upstream's task means for ours. over says that nothing
// is to be waited for.
func (f *follower) act(ctx context.Context, state taskwire.Followed) (over bool, err error) {
	rd := f.rd
	switch state.Status {
	case "completed":
		return true, rd.endWith(ending{state: task.Completed, outcome: state.Result, message: state.Message})
	case "failed":
		object, says := task.Readable(state.Error)
		return true, rd.endWith(ending{state: task.Failed, outcome: object, message: cmp.Or(state.Message, says)})
	case "cancelled":
		return true, f.cancelled(ctx, state.Message)
	case "input_required":
		if asks := f.open(state.Asks); len(asks) > 0 {
			_, err := rd.pauseFor(ctx, asks, nil, state.Message)
			_, f.unanswerable = errors.AsType[*mcp.Error](err)
			return true, err
		}
	}
	if state.Message != "" {
		rd.notes.text(state.Message)
	}
	return false, nil
}

// open are the asks that were not answered yet: an upstream may show those for a moment
// after it has acknowledged the answers.
func (f *follower) open(asks []inquiry.Input) []inquiry.Input {
	t := f.rd.record()
	return slices.DeleteFunc(slices.Clone(asks), func(in inquiry.Input) bool { return hasAnswer(t, in) })
}

// stands reports whether the upstream asks for what it has refused the answers to. Else these came too late: it has ended its task, or goes on.
func (f *follower) stands(state taskwire.Followed) bool {
	return state.Status == "input_required" && len(f.open(state.Asks)) < len(state.Asks)
}

// cancelled ends the task as the upstream has ended its own, which says why.
func (f *follower) cancelled(ctx context.Context, why string) error {
	rd := f.rd
	f.over = true
	op := rd.l.Op(task.Cancel)
	op.Message = why
	if err := rd.must(ctx, op); err != nil {
		return err
	}
	rd.ended(ctx)
	return nil
}

// wait waits until the upstream may be asked again. What it has said is in memory no more.
func (f *follower) wait(ctx context.Context, interval time.Duration) error {
	f.rd.room.Give()
	if interval == 0 {
		interval = followEvery
	}
	if err := timed.Sleep(ctx, min(max(interval, followLeast), followMost)); err != nil {
		return f.rd.cause(ctx, err)
	}
	return nil
}

// poll asks for the state of the task.
func (f *follower) poll(ctx context.Context) (taskwire.Followed, error) {
	r, err := f.ask(ctx, mcp.MethodGetTask, nil)
	if err != nil || r.IsError {
		return taskwire.Followed{}, f.refused(r, err)
	}
	state, err := taskwire.ReadFollowed(r.Result)
	if err != nil || state.ID != f.id {
		return taskwire.Followed{}, task.ErrGarbled
	}
	return state, nil
}

// refused returns why a task cannot be followed any more: what the upstream says of it in
// its own words, which have ended our task, or err.
func (f *follower) refused(r *reply, err error) error {
	if err != nil {
		return err
	}
	object, says := task.ErrorOf(r.message)
	if err := f.rd.endWith(ending{state: task.Failed, outcome: object, message: says}); err != nil {
		return err
	}
	return errFenced
}

// ask makes a request about the task, and repeats it until that is answered: none of them
// does anything twice.
func (f *follower) ask(ctx context.Context, method string, answers []inquiry.Input) (*reply, error) {
	interval := followLeast
	for odd := 0; ; interval *= 2 {
		r, err := f.askOnce(ctx, method, answers)
		if ctx.Err() != nil {
			return nil, f.rd.cause(ctx, err)
		}
		worded, isWorded := errors.AsType[*mcp.Error](err)
		failure, isUnanswered := errors.AsType[*exchange.SendError](err)
		_, isRefused := errors.AsType[*transport.CredentialsError](err)
		if isRefused {
			f.rd.renewal.Refused()
		}
		switch {
		case err == nil && (!r.IsError || isFinal(r.ErrorCode)):
			return r, nil
		case isWorded && worded.Reason != mcp.ReasonBadUpstream:
			return nil, err
		case err == nil, isWorded, isRefused, isUnanswered && failure.Garbled:
			if odd++; odd >= maxOdd {
				return r, untold(err)
			}
		}
		interval = min(interval, followMost)
		if err := f.wait(ctx, interval); err != nil {
			return nil, err
		}
	}
}

// untold is why a task is followed no more, given what came of the last poll, which says nothing of the call: that was made.
func untold(err error) error {
	var says string
	worded, isWorded := errors.AsType[*mcp.Error](err)
	refused, isRefused := errors.AsType[*transport.CredentialsError](err)
	switch {
	case isWorded:
		says = worded.Message
	case isRefused:
		says = refused.Error()
	default:
		return err
	}
	return task.BadUpstream("the server made a task of the call, and does not tell of it: " + says)
}

// isFinal reports whether an error says something that will not change.
func isFinal(code int) bool {
	return code == mcp.CodeInvalidParams || code == mcp.CodeMethodNotFound || code == mcp.CodeMissingCapability
}

func (f *follower) askOnce(ctx context.Context, method string, answers []inquiry.Input) (*reply, error) {
	t := f.rd.record()
	f.sent++
	id := f.rd.token + "-f" + strconv.Itoa(f.sent)
	c := aboutTheirs(f.id, id, method, t.Version, answers)
	c.Room = &f.rd.room
	c.Envelope = f.rd.renewed().Envelope
	ex, err := f.rd.r.Pools.Get(t.Pool).Transport.Ask(ctx, f.u, c, t.Terms.MaxResult)
	if err != nil {
		return nil, err
	}
	defer ex.Close()
	return f.rd.read(ex, strconv.AppendQuote(nil, id))
}

// aboutTheirs is a request about an upstream's task, without an envelope.
func aboutTheirs(theirs, id, method, version string, answers []inquiry.Input) *task.Call {
	return &task.Call{
		Body: taskwire.Request(id, method, theirs, version, answers),
		Own: task.Pairs{
			"Accept", "application/json, text/event-stream", "Content-Type", "application/json",
			mcp.HeaderVersion, version, mcp.HeaderMethod, method, mcp.HeaderName, mcp.EncodeName(theirs),
		},
	}
}

// leave gives the upstream's task up where nobody waits for it any more.
func (f *follower) leave(ctx context.Context) {
	t, cause := f.rd.record(), context.Cause(ctx)
	given := errors.Is(cause, errCancelled) || errors.Is(cause, errDiscarded) || errors.Is(cause, task.ErrTimeout) || f.unanswerable
	if f.over || !given && t.State != task.Cancelled {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	if _, err := f.askOnce(ctx, mcp.MethodCancelTask, nil); err != nil {
		f.rd.r.Log.Debug("a task of an upstream's could not be cancelled", "upstream", f.u.Name, "error", err)
	}
}
