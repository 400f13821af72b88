package course

import (
	"context"

	"berth/internal/mcp"
	"berth/proxy/audit"
	"berth/proxy/fault"
	"berth/routing"
)

// Query is what the router needs to know of the request.
func (r *Routed) Query() routing.Query {
	return routing.Query{
		Calls:     r.Message.Calls,
		Session:   r.Session,
		Version:   r.Version(),
		Principal: r.Principal,
		Caller:    r.Caller,
		LongestID: r.Settings.Limits.TaskID,
		Affinity:  r.Affinity,
		Inquirer:  inquirer{r},
	}
}

// Decide finds the owner of what the request is about, if it has one. rec hears which span made the task, nil: nobody does.
func (r *Routed) Decide(q *routing.Query, rec *audit.Record) error {
	if err := r.settle(q); err != nil {
		return err
	}
	if r.AboutTask && rec != nil && rec.IsTraced() && r.Decision.Task.ID != "" {
		rec.ComesFrom(originOf(r.Ctx, r.Endpoint.Router, &r.Decision))
	}
	if err := r.OpenAlias(); err != nil {
		return err
	}
	if r.Alias != "" && r.Message.Batch && r.HasResponse() {
		return fault.AnswersMoved
	}
	d := &r.Decision
	if r.Message.Batch && r.Version() == "" && !mcp.AllowsBatches(d.Binding.Version) {
		r.Call = r.AsBatch()
		return fault.NoBatches
	}
	if d.Narrow {
		r.Call = r.WithBody(mcp.NarrowListen(r.Body, d.ListenIDs))
	}
	return nil
}

// settle has the router decide. The fleet is asked from what r was before, and where nobody can say it stays that.
func (r *Routed) settle(q *routing.Query) error {
	r.stood = standpointOf(&r.Decision)
	if !r.decided {
		r.decided = true
		return r.Endpoint.Router.Decide(r.Ctx, q, &r.Decision)
	}
	var d routing.Decision
	err := r.Endpoint.Router.Decide(r.Ctx, q, &d)
	if err == nil {
		r.Decision = d
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
