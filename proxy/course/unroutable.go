package course

import (
	"cmp"
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/proxy/audit"
	"berth/proxy/inbound"
	"berth/proxy/polls"
	"berth/proxy/tasks"
	"berth/routing"
)

// Unroutable is what the client of a call is told that could not be routed for err: what was seen of
// its task, or a refusal. rec hears of headers that are missed, nil: nobody does.
func (g *Guide) Unroutable(c *inbound.Call, rec *audit.Record, err error) (seen []byte, refusal error) {
	if c.AboutTask {
		refusal = unjudged(c, rec, err)
	}
	if refusal == nil && c.AboutTask {
		seen = unrouted(g.Stale, c, err)
	}
	return seen, cmp.Or(refusal, err)
}

// unjudged refuses a call about a task for what no upstream judges: where berth alone says that nobody has the task, all that it demands of
// calls about its own, so that no refusal tells which of another's tasks are there. Versions to come are for servers to judge.
func unjudged(c *inbound.Call, rec *audit.Record, err error) error {
	nobodys := errors.Is(err, routing.ErrUnknownTask) || errors.Is(err, routing.ErrUndeclared)
	switch one := c.Single(); {
	case one.Era == mcp.EraLegacy && !nobodys:
		return c.CheckLegacyVersion()
	case nobodys && !one.HasNoMethod() && (one.Era == mcp.EraLegacy || one.Version == mcp.VersionModern):
		return tasks.CheckMayAsk(c, rec)
	}
	return nil
}

// unrouted is what a client is told of a task that could not be routed, nil for nothing.
func unrouted(stale *polls.StaleCache, c *inbound.Call, err error) []byte {
	switch {
	case errors.Is(err, routing.ErrUnknownTask):
		return stale.End(c)
	case errors.Is(err, routing.ErrUnclear), errors.Is(err, routing.ErrBusy), errors.Is(err, routing.ErrOwnerGone),
		errors.Is(err, storage.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return stale.IfError(c, 0)
	}
	return nil
}
