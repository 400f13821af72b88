package upgrade

import (
	"context"
	"errors"

	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// Outlook returns what Create would refuse the call with now, or CreateOnce one that bears a key; nil: nothing that is known before it is
// tried. Nothing is made, taken or counted.
func (m *Maker) Outlook(ctx context.Context, c task.Creation, key string) error {
	if key != "" {
		if made, err := m.isMade(ctx, &c, key); made || err != nil {
			return ledger.Unavailable(err)
		}
	}
	if err := m.fit(); err != nil {
		return err
	}
	t := c.Task("", "", m.ledger.Holder, m.ledger.Clock.Now())
	if err := m.runner.Calls.Room(t.Caller, c.Rule.LivePerProcess); err != nil {
		return err
	}
	if err := m.ledger.Quota.Room(t.Caller, t.Weight()); err != nil {
		return err
	}
	return ledger.Unavailable(m.ledger.LiveRoom(ctx, t, c.Rule.LivePerPrincipal))
}

// isMade reports whether the call has its task already, by its key.
func (m *Maker) isMade(ctx context.Context, c *task.Creation, key string) (bool, error) {
	once, err := m.once(ctx, c, key)
	if err != nil {
		return false, err
	}
	used, err := m.used(ctx, c, once, key)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return false, nil
	case err == nil && used.Question != once.Question:
		return false, ErrKeyReused
	}
	return true, err
}
