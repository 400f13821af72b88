package runner

import (
	"context"
	"errors"

	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// Drop cancels a task and has its call ended. It returns the task as it is then.
func (r *Runner) Drop(ctx context.Context, e ledger.Entry, op task.Op) (task.Task, error) {
	h := r.Calls.Get(e.ID)
	apply := r.ledger.Records.Apply
	switch {
	case h != nil:
		apply = func(ctx context.Context, _ ledger.Entry, op task.Op) (ledger.Entry, error) { return h.step(ctx, op) }
	case e.Holder == "":
		// Nobody else takes its end down if this process dies half-way; the next beat strikes it.
		if err := r.ledger.TakeOn(ctx, &e.Task); err != nil {
			return task.Task{}, err
		}
	}
	after, err := apply(ctx, e, op)
	switch {
	case errors.Is(err, ledger.ErrUnknown):
		return task.Task{}, r.ledger.Epoch.Miss(ctx)
	case err != nil:
		return task.Task{}, err
	case !after.Did(op.ID):
		return after.Task, nil // it had ended
	}
	r.ledger.LeaveLive(ctx, &after.Task)
	if h == nil && after.Session == "" { // else whoever takes its session down needs the call for that
		r.ledger.DropCall(ctx, e.ID)
		r.ledger.SettleQuota(&after.Task)
	}
	switch {
	case h != nil:
		h.end(errCancelled)
	case e.Holder != "":
		// If this is lost, the holder learns of it when its result is refused.
		_ = r.ledger.Lists.Add(ctx, r.ledger.Lists.ChangesFor(e.Holder), e.ID, r.ledger.Epoch.Life, 0)
	}
	r.ledger.Notices.Changed(ctx, &after.Task)
	return after.Task, nil
}
