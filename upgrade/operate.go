package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// What follows is for operators: it tells of any task, whoever's it is.

// ErrNotRerunnable says that the call of a task may not be made again, or cannot.
var ErrNotRerunnable = errors.New("upgrade: the call is not made again")

// Found returns the ids of tasks, those that are held first, at most so many, and how many there are. The
// error wraps storage.ErrUnavailable.
func (t *Tasks) Found(ctx context.Context, most int) (ids []string, all int, err error) {
	return t.ledger.Found(ctx, most)
}

// ReadSome returns those of these tasks that there are, and whether all could be read. The error wraps
// storage.ErrUnavailable.
func (t *Tasks) ReadSome(ctx context.Context, ids []string) (some []task.Task, whole bool, err error) {
	ahead := t.ahead(ids)
	entries, whole, err := t.ledger.Records.GetSome(ctx, ids)
	for _, e := range entries {
		if held, ok := ahead[e.ID]; ok && held.Version >= e.Version {
			e = held
		}
		some = append(some, *e.Task)
	}
	return some, whole, err
}

// ahead is what holders know of these tasks, where the store may not have been told yet: it dies with them.
func (t *Tasks) ahead(ids []string) map[string]ledger.Entry {
	if !t.ledger.Dies() {
		return nil
	}
	held := map[string]ledger.Entry{}
	for _, id := range ids {
		if e, alone := t.runner.StandingAlone(id); alone {
			held[id] = e
		}
	}
	return held
}

// Read returns a task. Errors: ErrUnknown, or one that wraps storage.ErrUnavailable.
func (t *Tasks) Read(ctx context.Context, id string) (task.Task, error) {
	e, err := t.read(ctx, id)
	return *e.Task, err
}

// Line returns the ids of the tasks that wait in a line, as task.QueueName names it, in the order of their
// turns. The error wraps storage.ErrUnavailable.
func (t *Tasks) Line(ctx context.Context, name string) (ids []string, err error) {
	waiting, err := t.ledger.Queues.Waiting(ctx, name)
	for _, turn := range waiting {
		ids = append(ids, turn.ID)
	}
	return ids, err
}

// Running counts the calls of a queue that are under way at an upstream. The error wraps
// storage.ErrUnavailable.
func (t *Tasks) Running(ctx context.Context, queue, upstream string) (int, error) {
	listing, err := t.ledger.Store.Listing(ctx, t.ledger.Lists.SlotsOf(queue, upstream), 0)
	return listing.Size, err
}

// Pauses are the queues that are paused, by Terms.Queue. The error wraps storage.ErrUnavailable.
func (t *Tasks) Pauses(ctx context.Context) (map[string]ledger.Pause, error) {
	return t.ledger.Pauses.All(ctx)
}

// Pause has no berth send calls of a queue any more, within ledger.PauseFresh. What runs goes on, and what
// comes queues. One that is paused stays as it is. The error wraps storage.ErrUnavailable.
func (t *Tasks) Pause(ctx context.Context, queue, by string) error {
	return t.setPause(ctx, queue, ledger.Pause{Since: t.ledger.Clock.Now(), By: by})
}

// Resume ends a pause. The error is that of Pause.
func (t *Tasks) Resume(ctx context.Context, queue string) error {
	return t.setPause(ctx, queue, ledger.Pause{})
}

func (t *Tasks) setPause(ctx context.Context, queue string, pause ledger.Pause) error {
	err := t.ledger.Pauses.Set(ctx, queue, pause)
	if err == nil {
		t.ledger.Notices.Tell(ctx, ledger.PausesTopic, ledger.QueueTopic(queue)) // the others look by themselves
	}
	return err
}

// CancelFor is Cancel by an operator, and tells the task's client why.
func (t *Tasks) CancelFor(ctx context.Context, id, why string) (task.Task, error) {
	e, err := t.read(ctx, id)
	if err != nil {
		return task.Task{}, err
	}
	with, err := t.kept(ctx, e.Task)
	if err != nil {
		return task.Task{}, err
	}
	op := t.ledger.Op(task.Cancel)
	op.Message = why
	return t.cancel(ctx, e, op, with)
}

// kept is what was kept of what authorises a task's call; nil: nothing that is of use. Only a task that
// follows one of an upstream's needs it.
func (t *Tasks) kept(ctx context.Context, of *task.Task) (*task.Envelope, error) {
	if of.Follows == "" {
		return nil, nil
	}
	c, err := t.runner.CallOf(ctx, of)
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
func (t *Tasks) Rerun(ctx context.Context, id string) (task.Task, error) {
	e, err := t.read(ctx, id)
	if err != nil {
		return task.Task{}, err
	}
	if err := t.MayRerun(ctx, e.Task); err != nil {
		return task.Task{}, err
	}
	call, err := t.runner.CallOf(ctx, e.Task)
	switch {
	case errors.Is(err, storage.ErrUnavailable):
		return task.Task{}, err
	case err != nil:
		return task.Task{}, fmt.Errorf("%w: %w", ErrNotRerunnable, err)
	}
	// From here on the operator's departure must not leave open whether it is made.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ledger.StoreTime)
	defer cancel()
	made, err := t.again(ctx, e, call)
	return made, ledger.Unavailable(err)
}

// rerunTime is how long an order to make a call again stands of which nothing came: more than one that is
// under way takes. Then it may be given once more.
const rerunTime = time.Minute

// MayRerun says why the call of a task may not be made again; nil: it may, if it is kept. The error wraps
// ErrNotRerunnable, or storage.ErrUnavailable.
func (t *Tasks) MayRerun(ctx context.Context, of *task.Task) error {
	switch {
	case of.State != task.Failed:
		return fmt.Errorf("%w: the task is %s", ErrNotRerunnable, of.State)
	case !of.Terms.Rerun:
		return fmt.Errorf(`%w: its rule does not say on_orphan = "rerun", so the tool may not run twice`, ErrNotRerunnable)
	case of.Session != "":
		return fmt.Errorf("%w: it lives in its client's session", ErrNotRerunnable)
	case !t.runner.TakesOn(of.Pool):
		return fmt.Errorf("%w: there is no pool %q any more", ErrNotRerunnable, of.Pool)
	case of.Again.ID == "":
		return nil
	}
	_, err := t.ledger.Records.Get(ctx, of.Again.ID)
	switch {
	case err == nil:
		return fmt.Errorf("%w: it was made again as %s", ErrNotRerunnable, of.Again.ID)
	case !errors.Is(err, ledger.ErrUnknown):
		return err
	case t.ledger.Clock.Now().Sub(of.Again.At) > rerunTime:
		return nil
	}
	return fmt.Errorf("%w: an order is about to make it again as %s; if there is no such task by then, order it again in a minute", ErrNotRerunnable, of.Again.ID)
}

// again makes a task of a call that was one before. That it does stands in the first one's record before
// anything of the new one does: so of several orders one counts.
func (t *Tasks) again(ctx context.Context, e ledger.Entry, call *task.Call) (task.Task, error) {
	id, err := t.ledger.IDs.Fresh(ctx)
	if err == nil {
		err = t.ledger.Clock.Known(ctx)
	}
	if err != nil {
		return task.Task{}, err
	}
	made := e.Task.Anew(id, t.ledger.Holder, call.Size(), t.ledger.Clock.Now())
	release, err := t.runner.Calls.Admit(id, made.Caller, 0)
	if err != nil {
		return task.Task{}, err
	}
	defer release()
	if err := t.ledger.Quota.Admit(id, made.Caller, made.Weight(), t.ledger.Expires(made).Add(ledger.Spare)); err != nil {
		return task.Task{}, err
	}
	op := t.ledger.Op(task.Rerun)
	op.Of, op.Again = e.Again.ID, id
	if _, err := t.ledger.Records.Apply(ctx, e, op); err != nil {
		t.ledger.Quota.Drop(id)
		if errors.Is(err, task.ErrStale) {
			err = fmt.Errorf("%w: another order was first", ErrNotRerunnable)
		}
		return task.Task{}, err
	}
	stands, err := t.record(ctx, made, &task.Creation{Rule: &task.Rule{}, Call: call})
	if err != nil {
		t.runner.Abort(ctx, made, call, err)
		return task.Task{}, err
	}
	t.runner.Metrics.Made()
	h := t.runner.Hold(stands, call)
	h.Start(nil)
	return *stands.Task, nil
}

// Payloads are what a task's call bears, and what has come of it.
type Payloads struct{ Arguments, Outcome, Asks json.RawMessage }

// Payloads returns what there is of a task's. The error wraps storage.ErrUnavailable.
func (t *Tasks) Payloads(ctx context.Context, of *task.Task) (p Payloads, err error) {
	c, _, lost := t.runner.LoadCall(ctx, of.ID)
	switch {
	case errors.Is(lost, storage.ErrUnavailable):
		return p, lost
	case lost == nil:
		var body struct {
			Params struct{ Arguments json.RawMessage }
		}
		_ = json.Unmarshal(c.Body, &body) // it was read when it came
		p.Arguments = body.Params.Arguments
	} // else it has been dropped with the task's end
	if of.Outcome != "" {
		p.Outcome, err = t.ledger.Records.Outcome(ctx, of.ID, of.Outcome)
		if err != nil && !errors.Is(err, ledger.ErrUnknown) {
			return p, err
		}
	}
	if len(of.Asks) > 0 {
		p.Asks, _ = json.Marshal(of.Asks) // what a record holds was parsed before
	}
	return p, nil
}
