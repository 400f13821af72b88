package upgrade

import (
	"context"
	"errors"
	"fmt"

	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// again makes a task of a call that was one before. That it does stands in the first one's record before
// anything of the new one does: so of several orders one counts.
func (m *Maker) again(ctx context.Context, e ledger.Entry, call *task.Call) (task.Task, error) {
	id, err := m.ledger.IDs.Fresh(ctx)
	if err == nil {
		err = m.ledger.Clock.Known(ctx)
	}
	if err != nil {
		return task.Task{}, err
	}
	made := e.Task.Anew(id, m.ledger.Holder, call.Size(), m.ledger.Clock.Now())
	if err := m.admit(made, 0); err != nil {
		return task.Task{}, err
	}
	defer m.runner.Calls.Unadmit(made.ID, made.Caller)
	op := m.ledger.Op(task.Rerun)
	op.Of, op.Again = e.Again.ID, id
	if _, err := m.ledger.Records.Apply(ctx, e, op); err != nil {
		m.ledger.Quota.Drop(id)
		if errors.Is(err, task.ErrStale) {
			err = fmt.Errorf("%w: another order was first", ErrNotRerunnable)
		}
		return task.Task{}, err
	}
	stands, err := m.record(ctx, made, &task.Creation{Rule: &task.Rule{}, Call: call})
	if err != nil {
		m.runner.Abort(ctx, made, call, err)
		return task.Task{}, err
	}
	m.runner.Metrics.Made()
	h := m.runner.Hold(stands, call)
	h.Start(nil)
	return *stands.Task, nil
}
