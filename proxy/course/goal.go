package course

import (
	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/proxy/failover"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/proxy/tasklist"
	"berth/routing"
)

// Goal is whom a request is for that was routed.
type Goal uint8

// Whom requests are for.
const (
	Anybody  Goal = iota // who is fit for new work
	TheOwner             // of what it is about
	TheList              // all upstreams: it asks for a list of their tasks
)

// GoalOf decides it, or refuses the request.
func GoalOf(c *inbound.Call, at *routing.Decision) (Goal, error) {
	switch {
	case tasklist.IsMissing(c, at):
		return 0, fault.NotInCore
	case tasklist.IsWanted(c):
		return TheList, nil
	case at.Owner == nil, at.IsKeptTogether() && IsLost(c.Endpoint, at.Owner, nil):
		return Anybody, nil
	}
	return TheOwner, nil
}

// IsOutOfReach reports whether a request is not sent to the owner that it was routed to, because that is known to be
// silent: one about a task, or with a value that keeps calls together.
func IsOutOfReach(c *inbound.Call, at *routing.Decision, u *routing.Upstream) bool {
	return u.Silent() && (c.AboutTask || at.IsKeptTogether())
}

// Unreachable is what the client is told of an owner that gave no answer. failed is how the request to it failed, nil if
// there was none.
func Unreachable(c failover.Case, u *routing.Upstream, failed *exchange.SendError) error {
	sent := failed != nil && failed.Sent
	switch {
	case failed != nil && (failed.IsOwn() && !failed.Sent || failed.Garbled):
		return failed
	case c.AboutTask && lacksTasks(c.Single()) && (!sent || c.Single().Method == mcp.MethodGetTask):
		return mcp.ErrMissingTasks // whoever answers says so
	case !sent && c.Session != "" && !c.Pinned() && IsLost(c.Endpoint, u, failed):
		return routing.ErrUnknownSession
	case !sent:
		return fault.OwnerSilent
	case c.AboutTask && !(failed.TimedOut && c.Single().Method == mcp.MethodGetTask):
		return fault.OwnerCut
	}
	return failed
}

// lacksTasks reports whether a call about a task lacks the extension, in the version that has it.
func lacksTasks(c *mcp.Call) bool {
	return c.Era == mcp.EraModern && c.Version == mcp.VersionModern && !c.DeclaresTasks && !c.HasNoMethod()
}

// IsLost reports whether what u held in its memory is as good as gone: nobody listens at its
// address, or it has been silent for longer than anybody is told to wait for it. failed is
// how the request to it failed, nil if there was none.
func IsLost(ep *inbound.Endpoint, u *routing.Upstream, failed *exchange.SendError) bool {
	sent := failed != nil && failed.Sent
	return u.Refuses() || failed != nil && failed.Refused || !sent && u.DownFor() > ep.OwnerGrace
}
