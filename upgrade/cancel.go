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
	return t.cancel(ctx, e, t.ledger.Op(task.Cancel), who.Envelope)
}

// cancel ends a task by op. with is what authorises the upstream's task to be given up that it follows; nil:
// that is left to expire.
func (t *Tasks) cancel(ctx context.Context, e ledger.Entry, op *task.Op, with *task.Envelope) (task.Task, error) {
	if e.State.Terminal() {
		return *e.Task, task.ErrTerminal
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ledger.StoreTime)
	defer cancel()
	after, err := t.runner.Drop(ctx, e, op)
	err = ledger.Unavailable(err)
	if errors.Is(err, storage.ErrUnavailable) {
		t.ledger.Backlog.Add(func(ctx context.Context) error { // it may be stored, and the holder not know of it
			_, err := t.runner.Drop(ctx, e, op)
			return err
		})
	}
	switch {
	case err != nil:
		return task.Task{}, err
	case !after.Did(op.ID):
		return *after, task.ErrTerminal
	}
	t.runner.Withdraw(ctx, e.Task, with)
	return *after, nil
}
