package runner

import (
	"context"
	"errors"

	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// forget removes a task that nobody was told of.
func (r *Runner) forget(ctx context.Context, t *task.Task) error {
	if err := r.ledger.Records.Forget(ctx, t.ID); err != nil {
		return err
	}
	if t.Outcome != "" {
		r.ledger.Records.DropOutcome(ctx, t.ID, t.Outcome)
	}
	if err := r.ledger.Once.Free(ctx, t); err != nil {
		return err
	}
	r.ledger.Quota.Drop(t.ID)
	if r.ledger.Alone() {
		r.ledger.Lists.Remove(ctx, r.ledger.Lists.All(), t.ID)
	}
	r.ledger.LeaveLive(ctx, t)
	r.ledger.Outbox.Forget(ctx, t)
	r.ledger.Lists.Remove(ctx, r.ledger.Lists.MadeBy(t.Pool, t.Principal), t.ID)
	r.ledger.Lists.Remove(ctx, r.ledger.Lists.TasksOf(t.Holder), t.ID)
	return nil
}

// Abort takes back what a creation that failed may have stored: at once, unless the store
// is why it failed. The caller has claimed the task.
func (r *Runner) Abort(ctx context.Context, t *task.Task, c *task.Call, reason error) {
	if !errors.Is(reason, storage.ErrUnavailable) && ctx.Err() == nil && r.resolve(ctx, t, c) == nil {
		return
	}
	kept := task.Pack(c) // it is lent
	r.ledger.Pending.Keep(t.ID, func(ctx context.Context) error { return r.resolve(ctx, t, kept.Unpack()) })
}

// abortLater takes back, once the store takes it, what it may hold of a task; while this process
// drains, too.
func (r *Runner) abortLater(t *task.Task, kept task.PackedCall) {
	r.ledger.Pending.Keep(t.ID, func(ctx context.Context) error { return r.takeBack(ctx, t, kept.Unpack()) })
	r.ledger.Backlog.Add(func(ctx context.Context) error { return r.ledger.Pending.Settle(ctx, t.ID) })
}

// resolve sees to a creation that has failed, for all that is known. A repetition may
// have been told of its task all the same: it is gone on with then. Else it is forgotten.
// The caller has claimed the task.
func (r *Runner) resolve(ctx context.Context, t *task.Task, c *task.Call) error {
	awaited, err := r.Awaited(ctx, t)
	if err != nil {
		return err
	}
	if !awaited {
		return r.takeBack(ctx, t, c)
	}
	e, err := r.ledger.Records.Get(ctx, t.ID)
	if err == nil && e.Holder == r.ledger.Holder {
		r.Hold(e, c).Start(nil)
	}
	if errors.Is(err, ledger.ErrUnknown) {
		r.ledger.Quota.Drop(t.ID)
		return nil
	}
	return err
}

// takeBack leaves the session of a task, and then forgets it. The client may have ended the session, which waits for the last call:
// until the record is gone, another berth would see to that.
func (r *Runner) takeBack(ctx context.Context, t *task.Task, c *task.Call) error {
	if err := r.LeaveSession(ctx, t, c); err != nil {
		return err
	}
	return r.forget(ctx, t)
}

// Awaited reports whether somebody has the handle of a task, or may yet get it by the key
// of its call. The client of any other one calls again.
func (r *Runner) Awaited(ctx context.Context, t *task.Task) (bool, error) {
	if t.Handed || t.Once == (task.Once{}) {
		return t.Handed, nil
	}
	used, err := r.ledger.Once.Used(ctx, t.Once)
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	return used.Recorded && used.Task == t.ID, err
}
