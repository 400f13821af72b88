package runner

import (
	"context"

	"berth/upgrade/task"
)

// LeaveSession notes that a call is over that was held in a session: what it asked is open
// no more. The last one of a session that its client has ended takes it down at the
// upstream. It fails while the store does not take that, and may be repeated.
func (r *Runner) LeaveSession(ctx context.Context, t *task.Task, c *task.Call) error {
	if t.Session == "" {
		return nil
	}
	if err := r.ledger.Asks.Close(ctx, t); err != nil {
		return err
	}
	if err := r.ledger.Store.RemoveMember(ctx, r.ledger.Lists.HeldIn(t.Session), t.ID); err != nil {
		return err
	}
	over, err := r.ledger.Sessions.SessionOver(ctx, t.Session)
	if err != nil || !over || c == nil {
		return err
	}
	if held, err := r.ledger.Sessions.HoldsCalls(ctx, t.Session); err != nil || held {
		return err
	}
	pool, u := r.Pools.Get(t.Pool), r.Pools.Owner(ctx, t)
	if pool == nil || pool.Transport.End == nil || u == nil {
		return nil
	}
	if err := pool.Transport.End(ctx, u, c); err != nil {
		r.Metrics.SessionEnd(ctx, "failed")
		r.Log.Debug("a session that has ended could not be ended at its upstream", "upstream", u.Name, "error", err)
		return nil
	}
	r.Metrics.SessionEnd(ctx, "told")
	return nil
}
