package proxy

import (
	"cmp"
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/proxy/audit"
	"berth/proxy/failover"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/proxy/polls"
	"berth/proxy/tasks"
	"berth/routing"
)

// routed routes the request, and returns errRouted if that says where it goes.
func (x *request) routed() error {
	q := x.query()
	if err := x.decide(&q); err != nil {
		return x.unroutable(err)
	}
	return errRouted
}

// decide finds the owner of what the request is about, if it has one.
func (x *request) decide(q *routing.Query) error {
	if err := x.settle(q); err != nil {
		return err
	}
	if x.AboutTask && x.rec.IsTraced() && x.decision.Task.ID != "" {
		x.rec.ComesFrom(originOf(x.ctx, x.Endpoint.Router, &x.decision))
	}
	if err := x.openAlias(); err != nil {
		return err
	}
	if x.Alias != "" && x.Message.Batch && x.HasResponse() {
		return fault.AnswersMoved
	}
	d := &x.decision
	if x.Message.Batch && x.Version() == "" && !mcp.AllowsBatches(d.Binding.Version) {
		x.Call = x.AsBatch()
		return fault.NoBatches
	}
	if d.Narrow {
		x.Call = x.WithBody(mcp.NarrowListen(x.Body, d.ListenIDs))
	}
	return nil
}

// settle has the router decide. The fleet is asked from what x was before, and where nobody can say it stays that.
func (x *request) settle(q *routing.Query) error {
	x.stood = standpointOf(&x.decision)
	if !x.decided {
		x.decided = true
		return x.Endpoint.Router.Decide(x.ctx, q, &x.decision)
	}
	var d routing.Decision
	err := x.Endpoint.Router.Decide(x.ctx, q, &d)
	if err == nil {
		x.decision = d
	}
	return err
}

// originOf is the span that made the task which a request is about. A binding that decided nothing is read for that.
func originOf(ctx context.Context, router *routing.Router, at *routing.Decision) string {
	if binding := at.TaskBinding(); binding.Upstream != "" {
		return binding.Origin
	}
	binding, _, _ := router.Bindings.Lookup(ctx, at.Task) // none has no origin
	return binding.Origin
}

// query is what the router needs to know of the request.
func (x *request) query() routing.Query {
	return routing.Query{
		Calls:     x.Message.Calls,
		Session:   x.Session,
		Version:   x.Version(),
		Principal: x.Principal,
		Caller:    x.Caller,
		LongestID: x.Table.Limits.TaskID,
		Affinity:  x.Affinity,
		Inquirer:  inquirer{x},
	}
}

// inquirer asks the fleet for a request.
type inquirer struct{ x *request }

// Questions implements routing.Inquirer: they are put from the request as it is now, and may still be put when it
// is over.
func (i inquirer) Questions() routing.Questions {
	i.x.keep()
	asking := i.x.wayFrom(i.x.stood)
	return routing.Questions{Credential: i.x.Credential(), Task: asking.AskTask, Session: asking.AskSession}
}

// Missing implements routing.Inquirer. A caller who names too many unknown ids is told to slow down
// before the fleet is asked for another. What the map knows is not concerned, so that nobody is
// kept from a task of his own by what others at the same address guess.
func (i inquirer) Missing() error {
	if i.sawEnd() {
		return nil
	}
	return i.x.p.gate.MayMiss(i.x.Caller)
}

// sawEnd reports whether the end of the task was seen here: then its id is no guess.
func (i inquirer) sawEnd() bool { return i.x.AboutTask && i.x.p.stale.End(i.x.Call) != nil }

// unroutable answers a call about a task that could not be routed with the task
// as it was last seen, if this berth saw its end, or did not lose it for long.
func (x *request) unroutable(err error) error {
	if at, ok := failover.Orphaned(x.Call, err); ok {
		x.decision = at
		if v := x.p.mover.Lost(x.ctx, x.asCase(), nil); v.Step != failover.Stay {
			return x.act(v)
		}
	}
	seen, refusal := unroutedAnswer(x.p.stale, x.Call, &x.rec, err)
	if serveStale(&x.decision, x.out, seen) {
		return nil
	}
	x.p.gate.NoteMiss(x.Caller, err)
	return refusal
}

// unroutedAnswer is what the client of a call is told that could not be routed for err: what was seen of
// its task, or a refusal.
func unroutedAnswer(stale *polls.StaleCache, c *inbound.Call, rec *audit.Record, err error) (seen []byte, refusal error) {
	if c.AboutTask {
		refusal = unjudged(c, rec, err)
	}
	if refusal == nil && c.AboutTask {
		seen = unrouted(stale, c, err)
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
