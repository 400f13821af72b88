package proxy

import (
	"strings"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/access"
	"berth/proxy/standing"
	"berth/proxy/subscribe"
	"berth/proxy/tasks"
)

// listen serves a subscription, or passes on what an upstream answers in its place.
func (x *request) listen() error {
	x.Keep() // a shared stream may outlive its first subscriber
	stands := x.p.standing.Begin(standing.Of(x.Call, standing.Listen))
	defer stands.End()
	s, err := x.p.subscriptions.Open(&subscribe.Request{
		Way: x.Way(), Out: x.out, CopyHeaders: func(response *wire.Response) { streamHeaders(x.Way(), x.out, response) },
		Stands: stands, CheckServed: func() error { return tasks.CheckServed(x.Call, &x.rec) }, Caller: func() access.Caller { return x.p.access.Caller(x.Way()) },
	}, x.Query())
	if err != nil {
		return err
	}
	defer s.Close()
	x.Decision.Source = s.Source
	refusal, err := s.Serve()
	x.rec.Upstream = strings.Join(s.Upstreams, ",")
	if refusal != nil {
		return x.relayRefusal(refusal)
	}
	return err
}

// relayRefusal passes on what an upstream answered in place of a subscription.
func (x *request) relayRefusal(refusal *subscribe.Refusal) error {
	if refusal.Upstream != nil {
		x.rec.Upstream = refusal.Upstream.Name
	}
	if refusal.Response != nil {
		return x.relayAnswer(refusal.Upstream, refusal.Response)
	}
	if a, err := mcp.PeekAnswer(refusal.Message, false); err == nil {
		x.rec.Code = a.ErrorCode
	}
	x.out.Respond(wire.StatusOK, refusal.Message)
	return nil
}
