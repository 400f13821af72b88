package upgrade

import (
	"context"
	"errors"

	"berth/upgrade/task"
)

// settleQuota counts what is left of a task whose call this process has let go of. One that
// another berth goes on with is that one's to count.
func (l *Ledger) settleQuota(t *task.Task) {
	switch {
	case t.State.Terminal(), t.State == task.InputRequired:
		l.quota.take(t.ID, t.Weight())
		l.quota.letGo(t.ID)
	case t.Holder != l.holder:
		l.quota.drop(t.ID)
	default:
		l.quota.letGo(t.ID)
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
	name := task.Digest(caller)
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
			l.quota.count(id, e.Caller, e.Weight(), 0, l.Expires(e.Task).Add(spare))
		case !errors.Is(err, ErrUnknown):
			return err
		}
	}
	return nil
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
