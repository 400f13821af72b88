package upgrade

import (
	"context"
	"errors"

	"berth/internal/storage"
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	op := t.ledger.newOp(task.Cancel)
	after, err := t.drop(ctx, e, op)
	err = unavailable(err)
	if errors.Is(err, storage.ErrUnavailable) {
		t.ledger.backlog.add(func(ctx context.Context) error { // it may be stored, and the holder not know of it
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
func (t *Tasks) drop(ctx context.Context, e entry, op task.Op) (task.Task, error) {
	h := t.runner.calls.get(e.ID)
	apply := t.ledger.records.apply
	switch {
	case h != nil:
		apply = func(ctx context.Context, _ entry, op task.Op) (entry, error) { return h.step(ctx, op) }
	case e.Holder == "":
		// Nobody else takes its end down if this process dies half-way; the next beat strikes it.
		if err := t.ledger.takeOn(ctx, &e.Task); err != nil {
			return task.Task{}, err
		}
	}
	after, err := apply(ctx, e, op)
	switch {
	case errors.Is(err, ErrUnknown):
		return task.Task{}, t.ledger.epoch.miss(ctx)
	case err != nil:
		return task.Task{}, err
	case !after.Did(op.ID):
		return after.Task, nil // it had ended
	}
	t.ledger.leaveLive(ctx, &after.Task)
	if h == nil && after.Session == "" { // else whoever takes its session down needs the call for that
		t.ledger.dropCall(ctx, e.ID)
		t.ledger.settleQuota(&after.Task)
	}
	switch {
	case h != nil:
		h.end(errCancelled)
	case e.Holder != "":
		// If this is lost, the holder learns of it when its result is refused.
		_ = t.ledger.lists.add(ctx, t.ledger.lists.changesFor(e.Holder), e.ID, t.ledger.epoch.life, 0)
	}
	t.ledger.notices.changed(ctx, &after.Task)
	return after.Task, nil
}
