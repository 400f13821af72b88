package subscribe

import (
	"cmp"
	"context"
	"errors"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/outbound"
	"berth/routing"
)

// join sends the leg's request to its upstream, or to one after the other that the
// picker chooses until one answers: to subscribe twice does no harm. The lease is to be
// released when the feed has ended.
func (g *leg) join(ctx context.Context) (*feed, *routing.Lease, error) {
	pool := g.l.Pool()
	if g.upstream != nil {
		lease := pool.Own(present(pool, g.upstream))
		lease.Stand()
		f, err := g.joinLeased(ctx, lease)
		return f, lease, err
	}
	work := g.l.Work("")
	work.Era = mcp.EraModern
	var tried, foreign []*routing.Upstream
	var last error
	for {
		lease, err := pool.Pick(work, tried)
		if err != nil {
			return nil, nil, cmp.Or(last, err)
		}
		lease.Stand()
		f, err := g.joinLeased(ctx, lease)
		if err == nil {
			dropRefusal(last)
			pool.Speaks(lease.Upstream, mcp.EraModern, foreign)
			return f, lease, nil
		}
		failed, unanswered := errors.AsType[*exchange.SendError](err)
		switch {
		case g.isForeign(err, &foreign): // it is told if nobody else takes it
			dropRefusal(last)
		case !unanswered || failed.Garbled || ctx.Err() != nil:
			dropRefusal(last)
			return f, lease, err
		}
		tried, last = append(tried, lease.Upstream), err
	}
}

// isForeign reports whether err is the refusal of an upstream that does not speak the era of
// subscriptions, while another may.
func (g *leg) isForeign(err error, foreign *[]*routing.Upstream) bool {
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok || refusal.Response == nil || !outbound.RefusesEra(mcp.EraModern, mcp.MethodListen, g.l.ID, refusal.Response) {
		return false
	}
	*foreign = append(*foreign, refusal.Upstream)
	return g.l.Pool().Refused(mcp.EraModern, *foreign)
}

// joinLeased joins the leased upstream, and gives the lease back if that fails. A
// connection that breaks is tried once more: it may have been a kept one at its end.
func (g *leg) joinLeased(ctx context.Context, lease *routing.Lease) (f *feed, err error) {
	for range 2 {
		f = &feed{all: g.l.all, ep: g.l.Endpoint, upstream: lease.Upstream, id: g.l.ID}
		err = f.subscribe(ctx, g.request(lease.Upstream))
		failed, unanswered := errors.AsType[*exchange.SendError](err)
		if !unanswered || failed.TimedOut || failed.Refused || failed.Garbled || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		lease.Release()
	}
	return f, err
}

// request is the leg's request to u.
func (g *leg) request(u *routing.Upstream) *exchange.Request {
	return g.l.Way.Request(u, wire.MethodPost, g.l.URL(u), g.body)
}
