package proxy

import (
	"cmp"
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/proxy/fault"
	"berth/routing"
)

// route finds the owner of what the request is about, if it has one.
func (x *request) route() error {
	d, err := x.endpoint.Router.Decide(x.ctx, x.query())
	if err != nil {
		return err
	}
	x.decision = d
	if err := x.openAlias(); err != nil {
		return err
	}
	if x.alias != "" && x.message.Batch && x.hasResponse() {
		return fault.AnswersMoved
	}
	if x.message.Batch && x.version() == "" && !mcp.AllowsBatches(d.Binding.Version) {
		x.id, x.inArray = nil, false // it is the batch that is refused
		return fault.NoBatches
	}
	if d.Narrow {
		x.body = mcp.NarrowListen(x.body, d.ListenIDs)
	}
	return nil
}

// query is what the router needs to know of the request. Questions to the fleet may
// outlive the decision that they serve, and are put from the request as it is now.
func (x *request) query() routing.Query {
	asking := *x
	return routing.Query{
		Calls:      x.message.Calls,
		Session:    x.session,
		Version:    x.version(),
		Principal:  x.principal,
		Credential: x.credential,
		Caller:     x.held.caller,
		LongestID:  x.p.limits.TaskID,
		Miss:       x.mayMiss,
		Affinity:   x.affinity,
		AskTask:    asking.askTask,
		AskSession: asking.askSession,
	}
}

// unroutable answers a call about a task that could not be routed with the task
// as it was last seen, if this berth saw its end, or did not lose it for long.
func (x *request) unroutable(err error) error {
	if done, err := x.orphaned(err); done {
		return err
	}
	var refusal error
	if x.aboutTask() && x.era() == mcp.EraLegacy {
		refusal = x.checkLegacyVersion() // no upstream judges it
	}
	if refusal == nil && x.aboutTask() && x.serveUnrouted(err) {
		return nil
	}
	x.noteMiss(err)
	return cmp.Or(refusal, err)
}

func (x *request) serveUnrouted(err error) bool {
	switch {
	case errors.Is(err, routing.ErrUnknownTask):
		return x.serveTerminal()
	case errors.Is(err, routing.ErrUnclear), errors.Is(err, routing.ErrBusy), errors.Is(err, routing.ErrOwnerGone),
		errors.Is(err, storage.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return x.serveLastSeen(0)
	}
	return false
}
