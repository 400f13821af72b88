package upgrade

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/runner"
	"berth/upgrade/task"
)

// ErrNotRerunnable says that the call of a task may not be made again, or cannot.
var ErrNotRerunnable = errors.New("upgrade: the call is not made again")

// Orders are what operators have done to tasks, whoever's they are.
type Orders struct {
	records records
	ledger  *ledger.Ledger
	runner  *runner.Runner
	maker   *Maker
	steps   *Steps
}

// Cancel is that of Steps, of any task of a pool, "": of any, and tells the task's client why. Who cannot read the task now cancels
// it, if there is one, as soon as the store lets that be read.
func (o *Orders) Cancel(ctx context.Context, id, pool, why string) (task.Task, error) {
	op := o.ledger.Op(task.Cancel)
	op.Message = why
	e, with, err := o.known(ctx, id, pool)
	if errors.Is(err, storage.ErrUnavailable) {
		o.ledger.Backlog.Add(func(ctx context.Context) error {
			e, with, err := o.known(ctx, id, pool)
			if err == nil && !e.State.Terminal() {
				err = o.steps.endLate(ctx, e, op, with)
			}
			return err
		})
	}
	if err != nil {
		return task.Task{}, err
	}
	return o.steps.end(ctx, e, op, with)
}

// known is the record of a task of a pool, "": of any, and what kept returns of it.
func (o *Orders) known(ctx context.Context, id, pool string) (e ledger.Entry, with *task.Envelope, err error) {
	e, err = o.records.read(ctx, id)
	if err == nil && pool != "" && pool != e.Pool {
		err = ErrUnknown
	}
	if err != nil {
		return ledger.NoEntry(), nil, err
	}
	with, err = o.kept(ctx, e.Task)
	return e, with, err
}

// kept is what was kept of what authorises a task's call; nil: nothing that is of use. Only a task that
// follows one of an upstream's needs it.
func (o *Orders) kept(ctx context.Context, of *task.Task) (*task.Envelope, error) {
	if of.Follows == "" {
		return nil, nil
	}
	c, err := o.runner.CallOf(ctx, of)
	if errors.Is(err, storage.ErrUnavailable) {
		return nil, err
	}
	if err != nil {
		return nil, nil // it is left to expire
	}
	return &c.Envelope, nil
}

// Rerun makes the call of a task that has failed again, once, and returns the task that it becomes. It
// belongs to whom the first one belonged to. Errors: ErrUnknown, ErrDraining, a *Refusal, one that wraps
// ErrNotRerunnable and says why, or storage.ErrUnavailable.
func (o *Orders) Rerun(ctx context.Context, id string) (task.Task, error) {
	e, err := o.records.read(ctx, id)
	if err != nil {
		return task.Task{}, err
	}
	if err := o.MayRerun(ctx, e.Task); err != nil {
		return task.Task{}, err
	}
	call, err := o.runner.CallOf(ctx, e.Task)
	switch {
	case errors.Is(err, storage.ErrUnavailable):
		return task.Task{}, err
	case err != nil:
		return task.Task{}, fmt.Errorf("%w: %w", ErrNotRerunnable, err)
	}
	// From here on the operator's departure must not leave open whether it is made.
	ctx, cancel := ledger.Bounded(context.WithoutCancel(ctx))
	defer cancel()
	made, err := o.maker.again(ctx, e, call)
	return made, ledger.Unavailable(err)
}

// rerunTime is how long an order to make a call again stands of which nothing came: more than one that is
// under way takes. Then it may be given once more.
const rerunTime = time.Minute

// MayRerun says why the call of a task may not be made again; nil: it may, if it is kept. The error wraps
// ErrNotRerunnable, or storage.ErrUnavailable.
func (o *Orders) MayRerun(ctx context.Context, of *task.Task) error {
	switch {
	case of.State != task.Failed:
		return fmt.Errorf("%w: the task is %s", ErrNotRerunnable, of.State)
	case !of.Terms.Rerun:
		return fmt.Errorf(`%w: its rule does not say on_orphan = "rerun", so the tool may not run twice`, ErrNotRerunnable)
	case of.Session != "":
		return fmt.Errorf("%w: it lives in its client's session", ErrNotRerunnable)
	case !o.runner.Pools.TakesOn(of.Pool):
		return fmt.Errorf("%w: there is no pool %q any more", ErrNotRerunnable, of.Pool)
	case of.Again.ID == "":
		return nil
	}
	_, err := o.ledger.Records.Get(ctx, of.Again.ID)
	switch {
	case err == nil:
		return fmt.Errorf("%w: it was made again as %s", ErrNotRerunnable, of.Again.ID)
	case !errors.Is(err, ledger.ErrUnknown):
		return err
	case o.ledger.Clock.Now().Sub(of.Again.At) > rerunTime:
		return nil
	}
	return fmt.Errorf("%w: an order is about to make it again as %s; if there is no such task by then, order it again in a minute", ErrNotRerunnable, of.Again.ID)
}
