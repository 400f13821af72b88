package proxy

import (
	"cmp"
	"context"
	"errors"

	"berth/proxy/audit"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/outbound"
	"berth/proxy/reply"
	"berth/routing"
	"berth/upgrade"
)

// leg is the part of a client's subscription that one upstream serves, or berth itself
// (upgradedLeg). It runs in a goroutine of its own, or is a place at a stream that
// subscribers share; either way it only ever tells the subscription what happened.
type leg struct {
	l        *subscription
	upstream *routing.Upstream // nil: the picker chooses, each time anew
	asked    mcp.Filter        // what it is for
	body     []byte            // of its request
	tasks    []routing.Listened
	shared   bool // it is a place at a stream that subscribers share
	end      context.CancelFunc

	state  legState   // these three are the subscription's
	agreed mcp.Filter // the last time that it was acknowledged
	at     string     // and by which upstream

	states states // of its tasks; the goroutine's
}

// legState is how a leg stands.
type legState uint8

const (
	legJoining  legState = iota // not acknowledged yet
	legStanding                 // acknowledged
	legLost                     // broke, and is to be joined again
	legOver                     // ended in order; joined again if its upstream comes back
	legRefused                  // will not be joined again
)

// legEvent is what happened to a leg.
type legEvent struct {
	leg *leg

	joined *feed           // it was acknowledged
	lost   error           // it ended, broke or was refused
	raw    []byte          // it says this, one event
	about  *mcp.Subscribed // what a shared stream's notification, whose raw is the message alone, is about
	within bool            // and the event goes on
	view   *upgrade.View   // a task of berth's own making is to be told of
	done   bool            // it has said all that there is to say
}

// stand notes that the leg was acknowledged.
func (g *leg) stand(f *feed) {
	g.state, g.agreed, g.at = legStanding, f.agreed.Within(g.asked), f.upstream.Name
}

// run keeps the leg joined until it is ended or refused.
func (g *leg) run(ctx context.Context) {
	keepJoined(ctx, g.upstream, func() error { return g.serve(ctx) }, func(err error) {
		if g.tell(ctx, legEvent{lost: err}) != nil {
			dropRefusal(err)
		}
	})
}

// serve joins the upstream and passes on what it says until that ends.
func (g *leg) serve(ctx context.Context) error {
	f, lease, err := g.join(ctx)
	if err != nil {
		return err
	}
	defer lease.Release()
	defer f.close()
	g.l.x.p.audit.Subscribed(g.l.x.PoolName(), false, 1)
	defer g.l.x.p.audit.Subscribed(g.l.x.PoolName(), false, -1)
	if err := g.tell(ctx, legEvent{joined: f}); err != nil {
		return err
	}
	select {
	case <-g.l.acknowledged:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	f.granted = f.agreed.Within(g.asked).Within(g.l.agreed)
	if err := g.tellStates(ctx, f.upstream, f.granted.TaskIDs()); err != nil {
		return err
	}
	return g.pass(ctx, f)
}

// join sends the leg's request to its upstream, or to one after the other that the
// picker chooses until one answers: to subscribe twice does no harm. The lease is to be
// released when the feed has ended.
func (g *leg) join(ctx context.Context) (*feed, *routing.Lease, error) {
	if g.upstream != nil {
		return g.joinLeased(ctx, g.l.x.Pool().Own(g.upstream))
	}
	var tried, foreign []*routing.Upstream
	var last error
	for {
		lease, err := g.l.x.Pool().Pick(mcp.EraModern, "", tried)
		if err != nil {
			return nil, nil, cmp.Or(last, err)
		}
		f, lease, err := g.joinLeased(ctx, lease)
		if err == nil {
			dropRefusal(last)
			g.l.x.Pool().Speaks(lease.Upstream, mcp.EraModern, foreign)
			return f, lease, nil
		}
		failed, unanswered := errors.AsType[*exchange.SendError](err)
		switch {
		case g.isForeign(err, &foreign): // it is told if nobody else takes it
			dropRefusal(last)
		case !unanswered || failed.Garbled || ctx.Err() != nil:
			return f, lease, err
		}
		tried, last = append(tried, lease.Upstream), err
	}
}

// isForeign reports whether err is the refusal of an upstream that does not speak the era of
// subscriptions, while another may.
func (g *leg) isForeign(err error, foreign *[]*routing.Upstream) bool {
	refused, ok := errors.AsType[*refusedFeed](err)
	if !ok || refused.response == nil || !outbound.RefusesEra(mcp.EraModern, mcp.MethodListen, g.l.x.ID, refused.response) {
		return false
	}
	*foreign = append(*foreign, refused.upstream)
	return g.l.x.Pool().Refused(mcp.EraModern, *foreign)
}

// joinLeased joins the leased upstream, and gives the lease back if that fails. A
// connection that breaks is tried once more: it may have been a kept one at its end.
func (g *leg) joinLeased(ctx context.Context, lease *routing.Lease) (f *feed, _ *routing.Lease, err error) {
	x, u := g.l.x, lease.Upstream
	for range 2 {
		f = x.p.newFeed(x.Endpoint, u, x.ID)
		err = f.subscribe(ctx, x.Endpoint, x.way().Request(u, wire.MethodPost, x.way().URL(u), g.body))
		failed, unanswered := errors.AsType[*exchange.SendError](err)
		if !unanswered || failed.TimedOut || failed.Refused || failed.Garbled || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		lease.Release()
	}
	return f, lease, err
}

// pass passes on what the upstream says, one event at a time: an event that comes in
// pieces is not interrupted by other legs. What names no subscription is made to name the
// client's.
func (g *leg) pass(ctx context.Context, f *feed) error {
	for {
		s, err := f.next()
		switch {
		case err != nil:
			return err
		case !g.states.note(s.about.Task):
			f.skip()
		case s.message != nil && s.about.Subscription == nil:
			err = g.sayOwn(ctx, f, s.message)
		case s.ends:
			err = g.say(ctx, s.bytes())
		default:
			err = g.sayLong(ctx, f, s)
		}
		if err != nil {
			return err
		}
	}
}

// sayOwn passes on a notification that does not say which subscription it is of.
func (g *leg) sayOwn(ctx context.Context, f *feed, message []byte) error {
	own := mcp.ForSubscription(message, f.id)
	if own == nil {
		f.drops(audit.DropOther)
		return nil
	}
	return g.say(ctx, reply.Event(own))
}

// say has one event passed on when no other leg is in the middle of one.
func (g *leg) say(ctx context.Context, raw []byte) error {
	return g.withFloor(ctx, func() error { return g.tell(ctx, legEvent{raw: raw}) })
}

// sayLong passes on an event that comes in pieces, of which s is the first.
func (g *leg) sayLong(ctx context.Context, f *feed, s said) error {
	return g.withFloor(ctx, func() error {
		for {
			err := g.tell(ctx, legEvent{raw: s.bytes(), within: !s.ends})
			if err != nil || s.ends {
				return err
			}
			if s, err = f.next(); err != nil {
				return err
			}
		}
	})
}

func (g *leg) withFloor(ctx context.Context, speak func() error) error {
	select {
	case g.l.floor <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-g.l.floor }()
	return speak()
}

// tell hands an event to the subscription, which takes them one at a time.
func (g *leg) tell(ctx context.Context, e legEvent) error {
	e.leg = g
	select {
	case g.l.events <- e:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
