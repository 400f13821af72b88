package upgrade

import (
	"cmp"
	"context"
	"errors"
	"time"

	"berth/internal/mcp/inquiry"
	"berth/upgrade/ledger"
	"berth/upgrade/lending"
	"berth/upgrade/metrics"
	"berth/upgrade/task"
)

// unlent is how large an outcome, or a record, may be that every reader has for himself, in bytes.
const unlent = 16 << 10

// Reader shows clients how their tasks fare.
type Reader struct {
	records records
	ledger  *ledger.Ledger
	lending *lending.Lending
	metrics *metrics.Metrics
}

// Get returns a task with its outcome, until its caller returns the view. Errors: ErrUnknown, a
// *Refusal, or one that wraps storage.ErrUnavailable.
func (r *Reader) Get(ctx context.Context, id string, who task.Asker) (View, error) {
	v, err := r.Glance(ctx, id, who)
	switch {
	case err != nil:
	case v.Task.Outcome != "":
		if err = r.showOutcome(ctx, &v); errors.Is(err, ledger.ErrUnknown) {
			return View{}, r.ledger.Epoch.Miss(ctx)
		}
	case v.State == task.InputRequired:
		err = r.showAsks(ctx, &v)
	}
	return v, err
}

// Glance returns a task without its outcome, which the core dialect does not show with it.
// Errors are those of Get.
func (r *Reader) Glance(ctx context.Context, id string, who task.Asker) (v View, err error) {
	v.Task, err = r.Peek(ctx, id, who)
	if err == nil && v.State == task.Queued {
		v.Place = r.ledger.Queues.Position(ctx, &v.Task)
		v.Paused, _ = r.ledger.Pauses.Has(ctx, v.Terms.Queue) // it is no news of the task if nobody can say
	}
	return v, err
}

// Peek returns a task's record alone: an outcome may be large, and to find a place in a
// queue takes a look at the queue. Errors are those of Get.
func (r *Reader) Peek(ctx context.Context, id string, who task.Asker) (task.Task, error) {
	e, err := r.records.find(ctx, id, who)
	return *e.Task, err
}

// Mine returns the ids of at most so many of a principal's tasks in a pool that have not expired, from a place
// on that an earlier call told as next, "" being the beginning; next is "" at the end. It costs as much as it returns.
// The error wraps storage.ErrUnavailable.
func (r *Reader) Mine(ctx context.Context, pool, principal, from string, most int) (ids []string, next string, err error) {
	page, err := r.ledger.Sessions.Mine(ctx, pool, principal, from, most)
	for _, member := range page.Members {
		ids = append(ids, member.Name)
	}
	return ids, page.Next, err
}

// WatchAll watches tasks. Stop the watcher when nobody waits any more.
func (r *Reader) WatchAll(ids []string) *ledger.Watcher { return r.ledger.Notices.WatchAll(ids) }

// Expires returns when the task may be forgotten, as the timers of this process count.
func (r *Reader) Expires(task task.Task) time.Time { return r.ledger.Expires(&task) }

// Withholds reports whether the client of a task may yet get something else in its place:
// then nobody else is to be told of it, for it may be gone in a moment. Who has its id has
// it from the handle, and need not ask.
func (r *Reader) Withholds(task *task.Task) bool { return r.ledger.Withholds(task) }

// showOutcome puts the outcome of a task that has ended into the view.
func (r *Reader) showOutcome(ctx context.Context, v *View) (err error) {
	name := v.Task.Outcome
	if 0 < v.Size && v.Size <= unlent {
		v.Outcome, err = r.ledger.Records.Outcome(ctx, v.ID, name)
		return err
	}
	size := cmp.Or(v.Size, v.Terms.MaxResult) // a berth before 0.5.0 has not said how large it is
	v.Outcome, err = r.lend(ctx, v, ledger.OutcomeKey(v.ID, name), size, func() ([]byte, error) {
		return r.ledger.Records.Outcome(ctx, v.ID, name)
	})
	return err
}

// showAsks puts what a task waits for between two rounds into the view.
func (r *Reader) showAsks(ctx context.Context, v *View) (err error) {
	asks := v.Outstanding()
	if v.Recorded() <= unlent {
		v.Inputs = inquiry.Inputs(asks)
		return nil
	}
	step := v.Ops[len(v.Ops)-1] // no two records of the task have the same
	v.Task = v.Brief()
	v.Inputs, err = r.lend(ctx, v, ledger.TaskKey(v.ID)+":asks:"+step, task.SizeOf(asks), func() ([]byte, error) {
		return inquiry.Inputs(asks), nil
	})
	return err
}

// lend has the view show what it borrows.
func (r *Reader) lend(ctx context.Context, v *View, key string, size int64, read func() ([]byte, error)) ([]byte, error) {
	o, err := r.lending.Borrow(ctx, key, v.Caller, size, read)
	if refusal, ok := errors.AsType[*task.Refusal](err); ok {
		r.metrics.Refused(ctx, refusal.Reason)
	}
	if err != nil {
		return nil, err
	}
	v.lent = o
	return o.Text(), nil
}
