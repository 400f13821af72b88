package proxy

import (
	"berth/internal/exchange"
	"berth/internal/wire"
	"berth/proxy/outbound"
	"berth/proxy/reply"
	"berth/routing"
)

// sendOver sends out to u once and waits for the answer's headers, over the early stream.
func (x *request) sendOver(u *routing.Upstream, out *exchange.Request, t outbound.Terms) (*wire.Response, error) {
	t.Wait, t.Watched = x.Patience, true
	to := outbound.To(x.Endpoint)
	if early := x.bridge(); early != nil {
		return reply.During(early, func() (*wire.Response, error) { return to.Send(x.ctx, u, out, t) })
	}
	return to.Send(x.ctx, u, out, t)
}

// beginEvents begins an upstream's event stream at the client. An early one becomes that
// stream, and from then on ends as that does.
func (x *request) beginEvents(response *wire.Response) error {
	if x.out.Early.IsOpen() {
		x.out.Early.Become()
		return nil
	}
	streamHeaders(x.way(), x.out, response)
	x.out.WriteHeader(response.Status)
	if err := x.out.Flush(); err != nil && !x.readsOn() {
		return err
	}
	return nil
}
