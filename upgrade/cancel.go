package upgrade

import (
	"context"
	"errors"

	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// Cancel ends a task, and returns it as it is then. One that had ended before stays as it
// is, and comes with ErrTerminal. Other errors: ErrUnknown, or one that wraps
// storage.ErrUnavailable: then the task is cancelled as soon as the store takes that.
func (t *Tasks) Cancel(ctx context.Context, id string, who task.Asker) (task.Task, error) {
	e, err := t.find(ctx, id, who)
	if err != nil {
		return task.Task{}, err
	}
	if e.State.Terminal() {
		return e.Task, task.ErrTerminal
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ledger.StoreTime)
	defer cancel()
	op := t.ledger.Op(task.Cancel)
	after, err := t.drop(ctx, e, op)
	err = ledger.Unavailable(err)
	if errors.Is(err, storage.ErrUnavailable) {
		t.ledger.Backlog.Add(func(ctx context.Context) error { // it may be stored, and the holder not know of it
			_, err := t.drop(ctx, e, op)
			return err
		})
	}
	switch {
	case err != nil:
		return task.Task{}, err
	case !after.Did(op.ID):
		return after, task.ErrTerminal
	}
	t.runner.withdraw(ctx, &e.Task, who.Envelope)
	return after, nil
}

// drop cancels a task and has its call ended. It returns the task as it is then.
func (t *Tasks) drop(ctx context.Context, e ledger.Entry, op task.Op) (task.Task, error) {
	h := t.runner.calls.get(e.ID)
	apply := t.ledger.Records.Apply
	switch {
	case h != nil:
		apply = func(ctx context.Context, _ ledger.Entry, op task.Op) (ledger.Entry, error) { return h.step(ctx, op) }
	case e.Holder == "":
		// Nobody else takes its end down if this process dies half-way; the next beat strikes it.
		if err := t.ledger.TakeOn(ctx, &e.Task); err != nil {
			return task.Task{}, err
		}
	}
	after, err := apply(ctx, e, op)
	switch {
	case errors.Is(err, ledger.ErrUnknown):
		return task.Task{}, t.ledger.Epoch.Miss(ctx)
	case err != nil:
		return task.Task{}, err
	case !after.Did(op.ID):
		return after.Task, nil // it had ended
	}
	t.ledger.LeaveLive(ctx, &after.Task)
	if h == nil && after.Session == "" { // else whoever takes its session down needs the call for that
		t.ledger.DropCall(ctx, e.ID)
		t.ledger.SettleQuota(&after.Task)
	}
	switch {
	case h != nil:
		h.end(errCancelled)
	case e.Holder != "":
		// If this is lost, the holder learns of it when its result is refused.
		_ = t.ledger.Lists.Add(ctx, t.ledger.Lists.ChangesFor(e.Holder), e.ID, t.ledger.Epoch.Life, 0)
	}
	t.ledger.Notices.Changed(ctx, &after.Task)
	return after.Task, nil
}
