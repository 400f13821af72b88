package proxy

import (
	"errors"
	"strconv"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/audit"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/proxy/reply"
	"berth/proxy/tasklist"
	"berth/routing"
	"berth/sticky"
)

// sourceFanout marks access records of requests that have no single owner.
const sourceFanout sticky.Source = "fanout"

// listTasks answers with one page of a list of tasks that berth makes.
func (x *request) listTasks() error {
	page, rule, err := x.p.lists.List(x.Ctx, x.Way(), listed(x.Call, &x.Decision, &x.rec), &x.rec)
	var refused *tasklist.Refusal
	var failed *exchange.SendError
	switch {
	case errors.As(err, &refused):
		return passRefusal(x.Way(), x.out, &x.rec, refused)
	case errors.As(err, &failed):
		return x.ownerFailed(x.Decision.Owner, failed)
	case err != nil:
		return err
	}
	if rule != nil {
		x.out.ReadBy(rule)
	}
	x.out.Respond(wire.StatusOK, mcp.Response(x.ID, page))
	return nil
}

// listed are the upstreams whose tasks the list bears, and says so of where it comes from.
func listed(c *inbound.Call, at *routing.Decision, rec *audit.Record) []*routing.Upstream {
	switch owner := at.Owner; {
	case tasklist.IsAdded(at):
		at.Source = routing.SourceUpgraded
		return nil
	case owner != nil:
		rec.Upstream = owner.Name
		return []*routing.Upstream{owner}
	}
	at.Source = sourceFanout
	return c.Pool().Upstreams()
}

// passRefusal gives the client what the upstreams say in place of a list, as it came.
func passRefusal(way outbound.Way, out *reply.Writer, rec *audit.Record, r *tasklist.Refusal) error {
	rec.Code = r.Code
	if exchange.ShapeOf(r.Response) == exchange.EventStream {
		out.Respond(r.Response.Status, r.Body)
		return nil
	}
	copyHeaders(way, out, r.Response)
	out.Header().Set("Content-Length", strconv.Itoa(len(r.Body)))
	out.WriteHeader(r.Response.Status)
	return out.Write(r.Body)
}
