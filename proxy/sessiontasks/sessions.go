package sessiontasks

import (
	"context"
	"log/slog"

	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/proxy/access"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/proxy/taskwatch"
	"berth/routing"
	"berth/upgrade"
)

// Sessions are those in which this berth's tasks may live.
type Sessions struct {
	held    *upgrade.Sessions // nil: no call is held in any
	tasks   *upgrade.Reader
	rules   upgrade.Rules
	poller  *taskwatch.Poller
	callers *access.Checker
	log     *slog.Logger
	streams *streams
}

// New returns the sessions of a berth that holds calls in these; nil: in none.
func New(held *upgrade.Sessions, tasks *upgrade.Reader, rules upgrade.Rules, poller *taskwatch.Poller, callers *access.Checker, log *slog.Logger) *Sessions {
	return &Sessions{held: held, tasks: tasks, rules: rules, poller: poller, callers: callers, log: log, streams: new(streams)}
}

// Succeed has s know the streams that another one's requests have, from before the first request of
// s: they are those of one berth under other rules.
func (s *Sessions) Succeed(before *Sessions) { s.streams = before.streams }

// MayHold reports whether calls may be held in the session of the request, which was routed to
// at: it is one of a version with tasks, as far as berth knows, in a pool that rules apply to.
func (s *Sessions) MayHold(way outbound.Way, at *routing.Decision) bool {
	version := at.Binding.Version
	return way.InSession && (version == "" || version == mcp.VersionCoreTasks) && s.isRuled(way.Call)
}

// isRuled reports whether the request is in a session of a pool that rules apply to. One that
// begins a session is in none, whatever it bears.
func (s *Sessions) isRuled(call *inbound.Call) bool {
	if call.Session == "" || s.held == nil || !s.rules.In(call.PoolName()) {
		return false
	}
	c := call.Single()
	return c == nil || c.Method != mcp.MethodInitialize
}

// CheckOpen refuses a request in a session that its client has ended while calls were held in
// it: its upstream still holds it, and must not be spoken to. While the store cannot say,
// requests go on.
func (s *Sessions) CheckOpen(ctx context.Context, call *inbound.Call) error {
	if !s.isRuled(call) {
		return nil
	}
	if over, err := s.held.SessionOver(ctx, call.SessionKey()); err == nil && over {
		return routing.ErrUnknownSession
	}
	return nil
}

// Declared is what the client that opens a session declares with initialize, where calls of the
// session may become tasks; else "".
func (s *Sessions) Declared(call *inbound.Call) string {
	c := call.Single()
	if c == nil || c.Method != mcp.MethodInitialize || s.held == nil || !s.rules.In(call.PoolName()) {
		return ""
	}
	return string(inquiry.DeclaredIn(c.Capabilities()))
}

// Revive takes back that the session which an answer to the call hands out has ended: its server
// gives it the id of one before, and it is alive at every berth.
func (s *Sessions) Revive(ctx context.Context, call *inbound.Call, session string) {
	if s.held == nil || !s.rules.In(call.PoolName()) {
		return
	}
	key := upgrade.SessionKey(call.PoolName(), call.Principal, session)
	if err := s.held.ReviveSession(ctx, key); err != nil {
		s.log.Debug("a session could not be freed of the end of one before", "pool", call.PoolName(), "error", err)
	}
}
