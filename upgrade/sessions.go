package upgrade

import (
	"context"

	"berth/upgrade/ledger"
	"berth/upgrade/runner"
	"berth/upgrade/task"
)

// Sessions are the sessions of clients in which calls are held: how they end, what upstreams
// ask in them, and who of several berths tells what happens in one.
type Sessions struct {
	ledger.Sessions
	Deliveries ledger.Deliveries

	ledger *ledger.Ledger
	runner *runner.Runner
}

// End marks a session as ended if calls are held in it, which reports held: then
// its upstream is told so once the last of them is over. asks are what is to be refused in
// the client's name, in the upstream's session that behind names. Without any call there is
// no mark, and the end is the upstream's to acknowledge at once. with is what authorises
// that: the calls of this berth, and the end upstream, bear it from then on; nil changes
// nothing. The error wraps storage.ErrUnavailable.
func (s *Sessions) End(ctx context.Context, session, behind string, with *task.Envelope) (asks []ledger.OpenAsk, held bool, err error) {
	if held, err = s.HoldsCalls(ctx, session); err != nil || !held {
		return nil, false, err
	}
	s.renew(ctx, session, with)
	if _, _, err := s.ledger.Store.PutIfAbsent(ctx, ledger.OverKey(session), []byte("over"), ledger.OverLife); err != nil {
		return nil, false, err
	}
	s.ledger.Notices.Tell(ctx, ledger.SessionTopic(session))
	// A call may have been over before the mark could be seen: then nobody else tells.
	if held, err = s.HoldsCalls(ctx, session); err != nil || !held {
		return nil, false, err
	}
	s.runner.Metrics.SessionEnd(ctx, "held")
	asks, err = s.ledger.Asks.Open(ctx, behind)
	return asks, true, err
}

// renew has what is sent for calls in a session bear with.
func (s *Sessions) renew(ctx context.Context, session string, with *task.Envelope) {
	listed, _ := s.InSession(ctx, session) // what is not known goes on as it was
	for _, id := range listed {
		s.runner.Renew(id, with)
	}
}

// AskedIn returns the task whose upstream waits, in the session that BehindKey names, for
// the response with this raw id; "" if none does. The error wraps storage.ErrUnavailable.
func (s *Sessions) AskedIn(ctx context.Context, behind string, id []byte) (string, error) {
	return s.ledger.Asks.Waiting(ctx, behind, id)
}

// Settle notes that the upstream has the answer to an ask. What the store does not take
// now is noted once it does: until then the ask may be shown once more, which does no
// harm.
func (s *Sessions) Settle(ctx context.Context, of string, id []byte) {
	s.runner.Settle(ctx, of, id)
}

// SettleIn is Settle for whichever task waits, in the session that BehindKey names, for
// the response with this raw id. If none does, or the store cannot say and later knows of
// none, nothing is noted. ctx bounds what the caller waits for that.
func (s *Sessions) SettleIn(ctx context.Context, behind string, id []byte) {
	s.runner.SettleIn(ctx, behind, id)
}
