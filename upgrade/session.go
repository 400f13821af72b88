package upgrade

import (
	"context"

	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// EndSession marks a session as ended if calls are held in it, which reports held: then
// its upstream is told so once the last of them is over. asks are what is to be refused in
// the client's name, in the upstream's session that behind names. Without any call there is
// no mark, and the end is the upstream's to acknowledge at once. The error wraps
// storage.ErrUnavailable.
func (t *Tasks) EndSession(ctx context.Context, session, behind string) (asks []ledger.OpenAsk, held bool, err error) {
	if held, err = t.ledger.Sessions.HoldsCalls(ctx, session); err != nil || !held {
		return nil, false, err
	}
	if _, _, err := t.ledger.Store.PutIfAbsent(ctx, ledger.OverKey(session), []byte("over"), ledger.OverLife); err != nil {
		return nil, false, err
	}
	t.ledger.Notices.Tell(ctx, ledger.SessionTopic(session))
	// A call may have been over before the mark could be seen: then nobody else tells.
	if held, err = t.ledger.Sessions.HoldsCalls(ctx, session); err != nil || !held {
		return nil, false, err
	}
	t.runner.metrics.sessionEnd(ctx, "held")
	asks, err = t.ledger.Asks.Open(ctx, behind)
	return asks, true, err
}

// leaveSession notes that a call is over that was held in a session: what it asked is open
// no more. The last one of a session that its client has ended takes it down at the
// upstream. It fails while the store does not take that, and may be repeated.
func (r *Runner) leaveSession(ctx context.Context, t *task.Task, c *task.Call) error {
	if t.Session == "" {
		return nil
	}
	if err := r.ledger.Asks.Close(ctx, t); err != nil {
		return err
	}
	if err := r.ledger.Store.Delist(ctx, r.ledger.Lists.HeldIn(t.Session), t.ID); err != nil {
		return err
	}
	over, err := r.ledger.Sessions.SessionOver(ctx, t.Session)
	if err != nil || !over || c == nil {
		return err
	}
	if held, err := r.ledger.Sessions.HoldsCalls(ctx, t.Session); err != nil || held {
		return err
	}
	pool, u := r.pools[t.Pool], r.upstreamOf(t)
	if pool == nil || pool.Transport.End == nil || u == nil {
		return nil
	}
	if err := pool.Transport.End(ctx, u, c); err != nil {
		r.metrics.sessionEnd(ctx, "failed")
		r.log.Debug("a session that has ended could not be ended at its upstream", "upstream", u.Name, "error", err)
		return nil
	}
	r.metrics.sessionEnd(ctx, "told")
	return nil
}
