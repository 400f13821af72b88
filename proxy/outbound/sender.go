package outbound

import (
	"context"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/routing"
)

// Sender sends to the upstreams of an endpoint's pool. Whatever it sends, for whomever, what
// comes of that feeds the upstream's health by the one rule in health.go.
type Sender struct{ *inbound.Endpoint }

// To returns the sender of an endpoint.
func To(ep *inbound.Endpoint) Sender { return Sender{ep} }

// Terms are on which a request is sent.
type Terms struct {
	Wait    time.Duration // for the answer's headers; 0: any time
	Watched bool          // what nothing bounds is watched over: the wait where Wait is 0, event streams
	Again   bool          // it is sent a second time where its connection breaks, which may have been a kept one at its end
	Reads   bool          // it changes nothing, so that it may be sent again though the upstream may have it
}

// Repeats reports whether a failure is one after which the request is sent again.
func (t Terms) Repeats(err error) bool {
	failed, ok := errors.AsType[*exchange.SendError](err)
	return ok && t.Again && !failed.TimedOut && !failed.Refused && !failed.Garbled && (!failed.Sent && !failed.IsOwn() || failed.Sent && t.Reads)
}

// Send sends out to u once and returns the answer when its headers are there. A failure is
// a *exchange.SendError. ctx bounds the whole exchange; closing the answer's body ends it.
func (s Sender) Send(ctx context.Context, u *routing.Upstream, out *exchange.Request, t Terms) (*wire.Response, error) {
	begun := out.Begun // a copy: who sends it may use it again
	if begun.IsZero() && t.Wait > 0 {
		begun = time.Now()
	}
	response, err := s.exchange(ctx, u, out, t)
	if err == nil && s.Bridge != nil && (response.Status/100 == 4 || out.Meets) && isModern(out) {
		response, err = s.Bridge.Doubt(ctx, u, out, response, t.Wait)
	}
	if err == nil {
		s.answered(u, response)
		return response, nil
	}
	inTime := ctx.Err() == nil || t.Wait > 0 && time.Since(begun) >= t.Wait
	if failed, ok := errors.AsType[*exchange.SendError](err); ok && inTime && !t.Repeats(failed) {
		s.failed(u, failed)
	}
	return nil, err
}

func (s Sender) exchange(ctx context.Context, u *routing.Upstream, out *exchange.Request, t Terms) (*wire.Response, error) {
	by := s.by(u, out)
	if !t.Watched || u.Hosted || s.Timeouts.Quiet == 0 {
		return by.Send(ctx, out, t.Wait)
	}
	return s.sendWatched(ctx, u, by, out, t.Wait)
}

// by is what sends a request to u: what is of the modern era may need a bridge to an upstream of
// the other one.
func (s Sender) by(u *routing.Upstream, out *exchange.Request) exchange.Sender {
	if s.Bridge == nil || !isModern(out) {
		return s.Client
	}
	if out.GoesOn {
		return s.Bridge.OnTo(u)
	}
	return s.Bridge.To(u)
}

func isModern(out *exchange.Request) bool { return out.Modern || mcp.MarksModern(out.Header) }
