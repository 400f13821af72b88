package proxy

import (
	"errors"
	"strconv"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/tasklist"
	"berth/routing"
	"berth/sticky"
)

// sourceFanout marks access records of requests that have no single owner.
const sourceFanout sticky.Source = "fanout"

// listTasks answers with one page of a list of tasks that berth makes.
func (x *request) listTasks() error {
	page, rule, err := x.p.lists.List(x.ctx, x.way(), x.listed(), &x.rec)
	var refused *tasklist.Refusal
	var failed *exchange.SendError
	switch {
	case errors.As(err, &refused):
		return x.passRefusal(refused)
	case errors.As(err, &failed):
		return x.ownerFailed(x.decision.Owner, failed)
	case err != nil:
		return err
	}
	if rule != nil {
		x.out.ReadBy(rule)
	}
	x.out.Respond(wire.StatusOK, mcp.Response(x.ID, page))
	return nil
}

// listed are the upstreams whose tasks the list bears.
func (x *request) listed() []*routing.Upstream {
	owner := x.decision.Owner
	switch {
	case tasklist.IsAdded(&x.decision):
		x.decision.Source = routing.SourceUpgraded
		return nil
	case owner != nil:
		x.rec.Upstream = owner.Name
		return []*routing.Upstream{owner}
	}
	x.decision.Source = sourceFanout
	return x.Pool().Upstreams()
}

// passRefusal gives the client what the upstreams say in place of a list, as it came.
func (x *request) passRefusal(r *tasklist.Refusal) error {
	x.rec.Code = r.Code
	if exchange.ShapeOf(r.Response) == exchange.EventStream {
		x.out.Respond(r.Response.Status, r.Body)
		return nil
	}
	copyHeaders(x.way(), x.out, r.Response)
	x.out.Header().Set("Content-Length", strconv.Itoa(len(r.Body)))
	x.out.WriteHeader(r.Response.Status)
	return x.out.Write(r.Body)
}
