package tasks

import (
	"context"
	"errors"
	"time"

	"berth/internal/wire"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/upgrade"
)

// offer hands o to the client, and reports whether it has its answer now. A client that
// has left takes nothing.
func (a *waiting) offer(ctx context.Context, o offer) (answered bool) {
	reply := make(chan bool, 1)
	o.answered = reply
	select {
	case a.offers <- o: // who waits waits, as a rule: nobody is to watch for the end of ctx
		return <-reply
	default:
	}
	select {
	case a.offers <- o:
		return <-reply
	case <-a.left:
	case <-ctx.Done():
	}
	return false
}

// Failed implements runner.WaitingClient.
func (a *waiting) Failed(err error) bool { return a.offer(context.Background(), offer{err: err}) }

// Waits implements runner.WaitingClient.
func (a *waiting) Waits() { a.offer(context.Background(), offer{}) }

// Send implements runner.WaitingClient.
func (a *waiting) Send(ctx context.Context, u *routing.Upstream, c *upgrade.Call, maxAnswer int64) (upgrade.Exchange, error) {
	a.sent.Add(1)
	response, err := outbound.To(a.endpoint).ExchangeHeld(ctx, u, c, wire.MethodPost, c.Headers())
	if err != nil {
		return nil, err
	}
	if refusesByStatus(response.Status) {
		return a.sendRefused(ctx, u, c, response, maxAnswer)
	}
	if outbound.IsStream(response) {
		a.keep(response)
		a.offer(ctx, offer{begins: true})
		return &waitingStream{HeldAnswer: outbound.NewHeldAnswer(ctx, response, response.Body, maxAnswer, c.Room), a: a, ctx: ctx, u: u, id: c.ID}, nil
	}
	body, _ := readAnswer(response) // what is wrong shows again when it is read on
	return a.offerAnswer(ctx, u, c, response, body, maxAnswer)
}

// refusedBody bounds how long the body of a refusal is waited for, from its status.
const refusedBody = 5 * time.Second

// sendRefused is Send from a status on that refuses the call. That stands, whatever becomes
// of the body.
func (a *waiting) sendRefused(ctx context.Context, u *routing.Upstream, c *upgrade.Call, response *wire.Response, maxAnswer int64) (upgrade.Exchange, error) {
	a.offer(ctx, offer{judging: true})
	response = response.Kept()
	late := time.AfterFunc(refusedBody, closer(response.Body))
	defer late.Stop()
	to := outbound.To(a.endpoint)
	if err := to.Misplaced(ctx, u, c, response); err != nil {
		if errors.Is(err, upgrade.ErrSessionLost) && to.DeniesSession(ctx, u, c) {
			err = errDenied
		}
		a.offer(ctx, offer{judged: true})
		return nil, err
	}
	body, err := readAnswer(response)
	if late.Stop(); err != nil {
		response = ofLength(response, len(body.head))
		body.rest = nil
	}
	return a.offerAnswer(ctx, u, c, response, body, maxAnswer)
}

// offerAnswer offers an answer that is no stream, and returns it if the client does not take
// it.
func (a *waiting) offerAnswer(ctx context.Context, u *routing.Upstream, c *upgrade.Call, response *wire.Response, body *begunAnswer, maxAnswer int64) (upgrade.Exchange, error) {
	whole := *response
	whole.Body = body
	refuses, says := refusesCall(response.Status, body.head, c.ID)
	if refuses && body.whole && outbound.Declares(c, body.head) {
		response.Body.Close()
		if refusesByStatus(response.Status) {
			a.offer(ctx, offer{judged: true})
		}
		return a.Send(ctx, u, c, maxAnswer) // once: it declares now what it is refused for
	}
	o := offer{u: u, response: &whole, id: c.ID, refuses: refuses}
	o.withheld = a.after > 0 && response.Status/100 == 2 && body.isWithheld(c.ID) // else it is for the client only if it refuses
	if a.offer(ctx, o) {
		response.Body.Close()
		return nil, o.givenError()
	}
	if body.whole {
		return outbound.NewWholeAnswer(response, body.head, says, maxAnswer), nil
	}
	return outbound.NewHeldAnswer(ctx, response, body, maxAnswer, c.Room), nil
}

// givenError is what ends a call whose client was given the answer.
func (o offer) givenError() error {
	if o.refuses {
		return upgrade.ErrRefused
	}
	return upgrade.ErrAnswered
}
