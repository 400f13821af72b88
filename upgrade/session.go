package upgrade

import (
	"context"

	"berth/upgrade/ledger"
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
	t.runner.Metrics.SessionEnd(ctx, "held")
	asks, err = t.ledger.Asks.Open(ctx, behind)
	return asks, true, err
}
