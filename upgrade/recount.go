package upgrade

import (
	"context"
	"errors"

	"berth/internal/mcp"
)

// settleQuota counts what is left of a task whose call this process has let go of. One that
// another berth goes on with is that one's to count.
func (l *Ledger) settleQuota(task *Task) {
	switch {
	case task.State.Terminal(), task.State == InputRequired:
		l.quota.take(task.ID, task.weight())
		l.quota.letGo(task.ID)
	case task.Holder != l.holder:
		l.quota.drop(task.ID)
	default:
		l.quota.letGo(task.ID)
	}
}

// InMemory is how many bytes of what tasks keep are in this process's memory, those that
// clients are being given included.
func (t *Tasks) InMemory() int64 {
	all, lent := t.ledger.quota.total(), t.lending.total()
	if t.ledger.store.Shared() || t.ledger.store.Durable() {
		return all.held + lent
	}
	return all.bytes + all.held + lent
}

// KeepsMuch reports whether the tasks of a caller, as Creation names it, keep at least an even
// share of what all keep, or as much of what clients are being given.
func (t *Tasks) KeepsMuch(caller string) bool {
	name := digest(caller)
	return t.ledger.quota.aboveEven(name) || t.lending.aboveEven(name)
}

// alone reports whether this process has a store for itself that outlives it.
func (l *Ledger) alone() bool { return !l.store.Shared() && l.store.Durable() }

// countAll counts the tasks that stand in a store which no other process shares.
func (l *Ledger) countAll(ctx context.Context) error {
	ids, err := l.store.Members(ctx, l.lists.all())
	if err != nil {
		return err
	}
	if err := l.clock.known(ctx); err != nil {
		return err
	}
	for _, id := range ids {
		e, err := l.records.get(ctx, id)
		switch {
		case err == nil:
			l.quota.count(id, e.Caller, e.weight(), 0, l.Expires(e.Task).Add(spare))
		case !errors.Is(err, ErrUnknown):
			return err
		}
	}
	return nil
}

// sizeOf is how many bytes inputs keep.
func sizeOf(inputs []mcp.Input) (n int64) {
	for _, in := range inputs {
		n += int64(len(in.Key) + len(in.Value))
	}
	return n
}

// recount looks at a task that this process counts and does not hold, of which another berth
// has told: what that one goes on with, or has ended, it counts itself.
func (r *Runner) recount(ctx context.Context, id string) {
	if !r.ledger.quota.has(id) || r.calls.get(id) != nil {
		return
	}
	e, err := r.ledger.records.get(ctx, id)
	if errors.Is(err, ErrUnknown) || err == nil && (e.State.Terminal() || e.Holder != "" && e.Holder != r.ledger.holder) {
		r.ledger.quota.drop(id)
	}
}
