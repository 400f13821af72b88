package upgrade

import (
	"context"
	"encoding/json"
	"errors"

	"berth/internal/jsonobject"
	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/runner"
	"berth/upgrade/task"
)

// Overview tells operators of any task, whoever's it is.
type Overview struct {
	records records
	ledger  *ledger.Ledger
	runner  *runner.Runner
}

// Found returns the ids of tasks, those that are held first, at most so many, and how many there are. The
// error wraps storage.ErrUnavailable.
func (o *Overview) Found(ctx context.Context, most int) (ids []string, all int, err error) {
	return o.ledger.Found(ctx, most)
}

// ReadSome returns those of these tasks that there are, and whether all could be read. The error wraps
// storage.ErrUnavailable.
func (o *Overview) ReadSome(ctx context.Context, ids []string) (some []task.Task, whole bool, err error) {
	ahead := o.records.ahead(ids)
	entries, whole, err := o.ledger.Records.GetSome(ctx, ids)
	for _, e := range entries {
		if held, ok := ahead[e.ID]; ok && held.Version >= e.Version {
			e = held
		}
		some = append(some, *e.Task)
	}
	return some, whole, err
}

// Read returns a task. Errors: ErrUnknown, or one that wraps storage.ErrUnavailable.
func (o *Overview) Read(ctx context.Context, id string) (task.Task, error) {
	e, err := o.records.read(ctx, id)
	return *e.Task, err
}

// Whose returns who may ask for a task. Errors are those of Read.
func (o *Overview) Whose(ctx context.Context, id string) (task.Asker, error) {
	e, err := o.ledger.Read(ctx, id)
	return task.Asker{Pool: e.Pool, Principal: e.Principal}, err
}

// Payloads are what a task's call bears, and what has come of it.
type Payloads struct{ Arguments, Outcome, Asks json.RawMessage }

// Payloads returns what there is of a task's. The error wraps storage.ErrUnavailable.
func (o *Overview) Payloads(ctx context.Context, of *task.Task) (p Payloads, err error) {
	c, _, lost := o.runner.LoadCall(ctx, of.ID)
	switch {
	case errors.Is(lost, storage.ErrUnavailable):
		return p, lost
	case lost == nil:
		p.Arguments = json.RawMessage(jsonobject.At(c.Body, "params", "arguments"))
	} // else it has been dropped with the task's end
	if of.Outcome != "" {
		p.Outcome, err = o.ledger.Records.Outcome(ctx, of.ID, of.Outcome)
		if err != nil && !errors.Is(err, ledger.ErrUnknown) {
			return p, err
		}
	}
	if len(of.Asks) > 0 {
		whole, err := o.ledger.Records.Whole(ctx, of)
		if errors.Is(err, task.ErrCallLost) {
			return p, nil // they have gone with the round
		}
		if err != nil {
			return p, err
		}
		p.Asks, _ = json.Marshal(whole.Asks) // what a record holds was parsed before
	}
	return p, nil
}
