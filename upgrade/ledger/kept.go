package ledger

import (
	"context"
	"errors"

	"berth/upgrade/task"
)

// CountAll counts the tasks that stand in a store which no other process shares.
func (l *Ledger) CountAll(ctx context.Context) error {
	ids, err := l.Store.Members(ctx, l.Lists.All())
	if err != nil {
		return err
	}
	if err := l.Clock.Known(ctx); err != nil {
		return err
	}
	for _, id := range ids {
		e, err := l.Records.Get(ctx, id)
		switch {
		case err == nil:
			l.Quota.Count(id, e.Caller, e.Weight(), 0, l.Expires(e.Task).Add(Spare))
		case !errors.Is(err, ErrUnknown):
			return err
		}
	}
	return nil
}

// SettleQuota counts what is left of a task whose call this process has let go of. One that
// another berth goes on with is that one's to count.
func (l *Ledger) SettleQuota(t *task.Task) {
	switch {
	case t.State.Terminal(), t.State == task.InputRequired:
		l.Quota.Take(t.ID, t.Weight())
		l.Quota.LetGo(t.ID)
	case t.Holder != l.Holder:
		l.Quota.Drop(t.ID)
	default:
		l.Quota.LetGo(t.ID)
	}
}
