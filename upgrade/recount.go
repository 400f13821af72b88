package upgrade

import (
	"context"
	"errors"

	"berth/internal/mcp"
)

// settleQuota counts what is left of a task whose call this process has let go of. One that
// another berth goes on with is that one's to count.
func (t *Tasks) settleQuota(task *Task) {
	switch {
	case task.State.Terminal(), task.State == InputRequired:
		t.quota.take(task.ID, task.weight())
		t.quota.letGo(task.ID)
	case task.Holder != t.holder:
		t.quota.drop(task.ID)
	default:
		t.quota.letGo(task.ID)
	}
}

// InMemory is how many bytes of what tasks keep are in this process's memory, those that
// clients are being given included.
func (t *Tasks) InMemory() int64 {
	all, lent := t.quota.total(), t.lending.total()
	if t.store.Shared() || t.store.Durable() {
		return all.held + lent
	}
	return all.bytes + all.held + lent
}

// KeepsMuch reports whether the tasks of a caller, as Creation names it, keep at least an even
// share of what all keep, or as much of what clients are being given.
func (t *Tasks) KeepsMuch(caller string) bool {
	name := short(caller)
	return t.quota.aboveEven(name) || t.lending.aboveEven(name)
}

// alone reports whether this process has a store for itself that outlives it.
func (t *Tasks) alone() bool { return !t.store.Shared() && t.store.Durable() }

// countAll counts the tasks that stand in a store which no other process shares.
func (t *Tasks) countAll(ctx context.Context) error {
	ids, err := t.store.Members(ctx, t.lists.all())
	if err != nil {
		return err
	}
	if err := t.clock.known(ctx); err != nil {
		return err
	}
	for _, id := range ids {
		e, err := t.records.get(ctx, id)
		switch {
		case err == nil:
			t.quota.count(id, e.Caller, e.weight(), 0, t.Expires(e.Task).Add(spare))
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
func (t *Tasks) recount(ctx context.Context, id string) {
	if !t.quota.has(id) || t.custody.get(id) != nil {
		return
	}
	e, err := t.records.get(ctx, id)
	if errors.Is(err, ErrUnknown) || err == nil && (e.State.Terminal() || e.Holder != "" && e.Holder != t.holder) {
		t.quota.drop(id)
	}
}
