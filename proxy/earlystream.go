package proxy

import (
	"berth/internal/exchange"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/proxy/reply"
	"berth/proxy/tasks"
	"berth/routing"
)

// earlyStream returns the early stream of a call, which begins to count the first time; nil where
// nothing is to be opened. Pages of browsers get none: which of them may read an answer
// only the upstream can say (see package reply), and it has not answered.
func earlyStream(out *reply.Writer, face *tasks.Face, c *inbound.Call) *reply.Early {
	if out.Early == nil && face.Rule(c) != nil && !c.HTTP.Header.Has("Origin") && c.HTTP.Header.Streams() {
		out.BeginEarly(c.Single().ProgressToken)
	}
	return out.Early
}

// sendOver sends out to u once and waits for the answer's headers, over the early stream.
func (x *request) sendOver(u *routing.Upstream, out *exchange.Request, t outbound.Terms) (*wire.Response, error) {
	t.Wait, t.Watched = x.Patience, true
	to := outbound.To(x.Endpoint)
	if early := earlyStream(x.out, x.p.tasks, x.Call); early != nil {
		return reply.During(early, func() (*wire.Response, error) { return to.Send(x.Ctx, u, out, t) })
	}
	return to.Send(x.Ctx, u, out, t)
}

// beginEvents begins an upstream's event stream at the client. An early one becomes that
// stream, and from then on ends as that does.
func beginEvents(way outbound.Way, out *reply.Writer, response *wire.Response) error {
	if out.Early.IsOpen() {
		out.Early.Become()
		return nil
	}
	streamHeaders(way, out, response)
	out.WriteHeader(response.Status)
	return out.Flush()
}
