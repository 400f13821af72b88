package runner

import (
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/quota"
	"berth/upgrade/task"
	"berth/upgrade/transport"
)

// ending is how a call has ended.
type ending struct {
	state      task.State // Completed or Failed
	outcome    []byte     // the result, or the error
	message    string     // for people
	reason     string     // in one word, of berth's own failures
	toolFailed bool       // the result says isError
}

// over reports, of a call that has ended with err, whether the task is to be forgotten, for nobody was told of it, or
// the client has its answer.
func (rd *round) over(err error) (forget bool) {
	switch {
	case errors.Is(err, transport.ErrAnswered), errors.Is(err, errDiscarded):
		return true
	case errors.Is(err, errFenced), errors.Is(err, errCancelled), errors.Is(err, errLeft):
		return false
	case err != nil && rd.client != nil && rd.client.Failed(err):
		return true
	case errors.Is(err, task.ErrShutdown) && rd.canBeLeft():
		rd.r.countAsLeft(rd.record())
		return false // it stays listed, for whoever finds this process gone
	case errors.Is(err, task.ErrShutdown):
		rd.r.Log.Warn("a held call was cut at the end of the drain", "pool", rd.pool, "tool", rd.record().Tool, "task", rd.ID, "age", rd.l.Clock.Now().Sub(rd.made).Round(time.Millisecond).String())
		rd.fail(err)
	case err != nil:
		rd.fail(err)
	}
	return errors.Is(rd.givenUp(), errDiscarded)
}

// endWith ends the task with what its upstream has said, unless nobody could read that.
func (rd *round) endWith(e ending) error {
	switch {
	case len(e.outcome) == 0:
		return task.ErrGarbled
	case !utf8.Valid(e.outcome):
		return task.Illegible(rd.record())
	}
	rd.finish(e)
	return nil
}

// fail ends the task with what went wrong.
func (rd *round) fail(err error) {
	t := rd.record()
	failure := task.FailureOf(err, t)
	rd.r.Metrics.NoteLost(t, failure)
	rd.finish(ending{state: task.Failed, outcome: failure.Object(), message: failure.Message, reason: failure.Reason})
}

// finish ends the task with an outcome, as soon as the store takes it. If the task has
// ended otherwise by then, or is another's, the outcome is late: it is dropped.
func (rd *round) finish(e ending) {
	// Neither a cancel nor a shutdown undoes what the tool has returned.
	ctx := context.WithoutCancel(rd.ctx)
	op, outcome := rd.l.Op(task.Finish), e.outcome
	op.End, op.Message, op.Reason, op.ToolFailed, op.Outcome, op.Round = e.state, e.message, e.reason, e.toolFailed, op.ID, rd.due
	if !rd.l.Quota.Take(rd.ID, int64(len(outcome)), quota.AsHeld) {
		rd.r.Metrics.Refused(ctx, "outcome")
		op.End, op.Message, op.Reason, op.ToolFailed, outcome = task.Failed, task.ErrNotKept.Message, task.ErrNotKept.Reason, false, task.ErrNotKept.Object()
	}
	if rd.room.Take(ctx, int64(len(outcome))) != nil {
		op.End, op.Message, op.Reason, op.ToolFailed, outcome = task.Failed, task.ErrUnsaved.Message, task.ErrUnsaved.Reason, false, task.ErrUnsaved.Object()
	}
	defer rd.room.Give()
	op.Size = int64(len(outcome))
	err := rd.insist(ctx, func(ctx context.Context) error { return rd.store(ctx, op, outcome) })
	switch {
	case err == nil:
		if rd.l.Store.Shared() {
			rd.r.Past.noteEnd(rd.record(), outcome)
		}
		rd.ended(ctx)
	case errors.Is(err, task.ErrTerminal), errors.Is(err, task.ErrStale):
		rd.r.Metrics.Late(ctx)
		rd.l.Records.DropOutcome(ctx, rd.record().ID, op.Outcome)
	default:
		rd.r.Log.Error("the outcome of a task is lost", "task", rd.record().ID, "error", err)
	}
}

// ended tells of the task's end by what has become of its call.
func (rd *round) ended(ctx context.Context) {
	t := rd.record()
	rd.r.Metrics.Ended(t.State)
	if rd.parted {
		rd.l.Notices.Wake(t.ID)
		return
	}
	rd.l.LeaveLive(ctx, t)
	rd.l.Notices.Changed(ctx, t)
}

// store stores an outcome and the op that names it. The store may have lost the one
// without the other meanwhile, so both are tried anew each time.
func (rd *round) store(ctx context.Context, op *task.Op, outcome []byte) error {
	inTime, cancel := rd.l.InTime(ctx)
	defer cancel()
	if op.End == task.Failed && rd.record().Terms.Rerun {
		if err := rd.storeCall(inTime); err != nil {
			return err
		}
	}
	if len(outcome) <= storage.StepBlob {
		return rd.storeAtOnce(inTime, op, outcome)
	}
	return rd.storeLarge(ctx, op, outcome)
}

// storeLarge is store for an outcome that takes its time: as long as its pieces arrive, however slow the line is. One is
// written after the other, or none would get through where several are late.
func (rd *round) storeLarge(ctx context.Context, op *task.Op, outcome []byte) error {
	keep := func() error {
		select {
		case rd.r.large <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		defer func() { <-rd.r.large }()
		return rd.l.Records.KeepOutcome(ctx, rd.ID, op.Outcome, outcome, time.Until(rd.Expires))
	}
	before := rd.repaired()
	if err := keep(); err != nil {
		return err
	}
	if err := rd.takeStep(ctx, op); err != nil {
		return err
	}
	if rd.repaired() != before {
		return keep() // what lost the record has lost this too
	}
	return nil
}

// takeStep takes a step in the time of one.
func (rd *round) takeStep(ctx context.Context, op *task.Op) error {
	ctx, cancel := rd.l.InTime(ctx)
	defer cancel()
	_, err := rd.step(ctx, op)
	return err
}

// storeAtOnce is store for an outcome that goes with the op that names it, as does what is left to do for the task if
// there is nothing that may hold that up.
func (rd *round) storeAtOnce(ctx context.Context, op *task.Op, outcome []byte) error {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	amid := &ledger.Amid{Before: []storage.Step{rd.l.Records.Keeping(rd.ID, op.Outcome, outcome, time.Until(rd.Expires))}}
	if rd.entry.Session == "" && ledger.IsSmall(rd.size) && rd.givenUp() == nil {
		amid.After = func(steps []storage.Step, t *task.Task) []storage.Step {
			return rd.l.Parting(steps, t, rd.Expires, rd.stored)
		}
	}
	_, err := rd.stepAmid(ctx, op, amid)
	rd.parted = amid.Whole
	return err
}

// release gives back what the call took.
func (h *Held) release(forget bool) {
	h.notes.drop()
	h.renewal.end()
	t := h.record()
	if forget || !h.parted {
		h.depart(t, forget)
	}
	if h.l.Store.Shared() {
		h.r.Past.note(h.Standing(), forget)
	}
	done := h.r.Calls.letGo(t.ID)
	h.l.SettleQuota(t)
	h.end(nil)
	if done != nil {
		close(done)
	}
}

// depart puts right where the task is listed.
func (h *Held) depart(t *task.Task, forget bool) {
	ctx, cancel := ledger.Bounded(context.Background())
	defer cancel()
	if h.leave(ctx, t, forget) != nil {
		return // it stays listed, and the next beat sees to it
	}
	if !forget {
		h.l.Keep(ctx, t)
	} else if h.parted {
		h.l.Lists.Remove(ctx, h.l.Lists.KeptWith(t.ID), t.ID)
	}
	h.l.Lists.Remove(ctx, h.l.Lists.TasksOf(h.l.Holder), t.ID)
}

// errUnended says that a task was not seen to end.
var errUnended = errors.New("upgrade: the task has not ended")

// leave takes the task out of the lists that it has no place in.
func (h *Held) leave(ctx context.Context, t *task.Task, forget bool) error {
	switch {
	case forget:
		if h.r.forget(ctx, t) != nil {
			h.r.abortLater(t, h.call)
		}
		return h.r.LeaveSession(ctx, t, h.renewed())
	case t.Holder == h.l.Holder:
		return errUnended
	case !t.State.Terminal():
		return nil
	case t.State == task.Cancelled:
		h.l.LeaveLive(ctx, t) // whoever cancelled it may have died before
	}
	if err := h.r.LeaveSession(ctx, t, h.renewed()); err != nil {
		return err
	}
	h.l.DropCall(ctx, t, h.size)
	return nil
}

// canBeLeft reports whether another process, or this one's successor, can go on with the
// call: it was not sent, is followed, or may run twice; its client has the handle, and what
// authorises it is kept.
func (h *Held) canBeLeft() bool {
	t := h.record()
	pool := h.r.Pools.Get(t.Pool)
	return h.l.Store.Durable() && t.MayGoOn() && t.Handed && h.isAuthorised(pool)
}
