package runner

import (
	"context"
	"errors"

	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// Answer does what op says, and goes on with the task if that made it this process's. The
// caller has claimed the task.
func (r *Runner) Answer(ctx context.Context, e ledger.Entry, op *task.Op, with *task.Envelope) error {
	// Whether these are the last answers shows when they are stored. In vain, the listing
	// is removed by the next beat.
	if err := r.ledger.TakeOn(ctx, e.Task); err != nil {
		return err
	}
	after, err := r.ledger.Records.Apply(ctx, e, op)
	switch {
	case errors.Is(err, ledger.ErrUnknown):
		return r.ledger.Epoch.Miss(ctx)
	case err != nil:
		return err
	}
	if r.TookOver(after.Task, op) {
		return r.goOn(ctx, after, with)
	}
	r.ledger.Notices.Changed(ctx, e.Task)
	return nil
}

// goOn holds the next round of a task, sent with the envelope of who answered.
func (r *Runner) goOn(ctx context.Context, e ledger.Entry, with *task.Envelope) error {
	c, _, err := r.ledger.Records.LoadCall(ctx, e.ID)
	if errors.Is(err, storage.ErrUnavailable) {
		return err
	}
	if err != nil {
		r.Log.Error("the call of a task cannot be read", "task", e.ID, "error", err)
		h := r.Hold(e, &task.Call{Envelope: *with})
		h.end(task.ErrCallLost)
		h.Start(nil)
		return nil
	}
	c.Envelope = *with
	r.Hold(e, c).Start(nil)
	r.ledger.Notices.Changed(ctx, e.Task)
	return nil
}

// TookOver reports whether op made this process the holder of a round that is due, or can
// be listened to further.
func (r *Runner) TookOver(t *task.Task, op *task.Op) bool {
	return t.Did(op.ID) && (t.Waiting() || t.Resumable()) && t.Holder == r.ledger.Holder
}

// Drop cancels a task and has its call ended, where it is held here in the name of who cancels it; nil: of the call. It returns the task
// as it is then.
func (r *Runner) Drop(ctx context.Context, e ledger.Entry, op *task.Op, with *task.Envelope) (*task.Task, error) {
	h := r.Calls.Get(e.ID)
	apply := r.ledger.Records.Apply
	switch {
	case h != nil:
		h.renewal.bring(with) // whoever sees first that it is cancelled ends it
		apply = func(ctx context.Context, _ ledger.Entry, op *task.Op) (ledger.Entry, error) { return h.step(ctx, op) }
	case e.Holder == "":
		// Nobody else takes its end down if this process dies half-way; the next beat sees to it.
		if err := r.ledger.TakeOn(ctx, e.Task); err != nil {
			return nil, err
		}
	}
	after, err := apply(ctx, e, op)
	switch {
	case errors.Is(err, ledger.ErrUnknown):
		return nil, r.ledger.Epoch.Miss(ctx)
	case err != nil:
		return nil, err
	case !after.Did(op.ID):
		return after.Task, nil // it had ended
	}
	r.ledger.LeaveLive(ctx, after.Task)
	// Whoever takes its session down, or gives up what its holder has left behind, needs the call for that.
	if h == nil && after.Session == "" {
		if !after.LeftBehind() {
			r.ledger.DropCall(ctx, after.Task, 0)
		}
		r.ledger.SettleQuota(after.Task)
	}
	switch {
	case h != nil:
		h.end(errCancelled)
	case e.Holder != "":
		// If this is lost, the holder learns of it when its result is refused.
		_ = r.ledger.Lists.Add(ctx, r.ledger.Lists.ChangesFor(e.Holder), e.ID, r.ledger.Epoch.Life, 0)
	}
	r.ledger.Notices.Changed(ctx, after.Task)
	return after.Task, nil
}
