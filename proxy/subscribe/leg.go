package subscribe

import (
	"context"
	"errors"
	"sync/atomic"

	"berth/internal/mcp"
	"berth/internal/mcp/listen"
	"berth/proxy/audit"
	"berth/proxy/reply"
	"berth/routing"
	"berth/upgrade"
)

// leg is the part of a client's subscription that one upstream serves, or berth itself
// (ownLeg). It runs in a goroutine of its own, or is a place at a stream that
// subscribers share; either way it only ever reports to the subscription.
type leg struct {
	l        *Subscription
	upstream *routing.Upstream // nil: the picker chooses, each time anew
	asked    listen.Filter     // what it is for
	body     []byte            // of its request
	tasks    []routing.Listened
	shared   bool // it is a place at a stream that subscribers share
	end      context.CancelFunc

	state  legState      // these three are the subscription's
	agreed listen.Filter // the last time that it was acknowledged
	at     string        // and by which upstream

	states states      // of its tasks; the goroutine's
	ended  atomic.Bool // all of them have, and the client knows
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

// report says what happened to a leg.
type report struct {
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

// isIdle reports whether the leg has agreed to nothing of what it is for.
func (g *leg) isIdle() bool { return g.agreed.Empty() && !g.asked.Empty() }

// run keeps the leg joined until it is ended or refused.
func (g *leg) run(ctx context.Context) {
	keepJoined(ctx, g.l.Pool(), g.upstream, func() error { return g.serve(ctx) }, func(err error) {
		if g.report(ctx, report{lost: err}) != nil {
			dropRefusal(err)
		}
	})
}

// serve joins the upstream and passes on what it says until that ends.
func (g *leg) serve(ctx context.Context) error {
	joining, hangUp := context.WithCancel(ctx)
	defer hangUp()
	f, lease, err := g.join(joining)
	if err != nil {
		return err
	}
	defer lease.Release()
	defer f.close()
	working, stay := whileItWorks(ctx, f.upstream, g.mayLeave)
	defer stay()
	defer context.AfterFunc(working, hangUp)()
	err = left(working, g.serveJoined(working, f))
	if errors.Is(err, errLeaves) && g.upstream != nil {
		err = errTasksOver
	}
	return err
}

// serveJoined passes on what the feed says until that ends.
func (g *leg) serveJoined(ctx context.Context, f *feed) error {
	defer g.l.all.count(g.l.PoolName(), false)()
	if err := g.report(ctx, report{joined: f}); err != nil {
		return err
	}
	select {
	case <-g.l.acknowledged:
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // one that agreed to nothing is dropped before the client is told
		return context.Cause(ctx)
	}
	f.granted = f.agreed.Within(g.asked).Within(g.l.agreed)
	if err := g.passStates(ctx, f.upstream, f.granted.TaskIDs()); err != nil {
		return err
	}
	return g.passAll(ctx, f)
}

// passAll passes on what the upstream says, one event at a time: an event that comes in
// pieces is not interrupted by other legs. What names no subscription is made to name the
// client's.
func (g *leg) passAll(ctx context.Context, f *feed) error {
	for {
		s, err := f.next()
		switch {
		case err != nil:
			return err
		case !g.states.note(s.about.Task):
			f.wanted = false
		case s.message != nil && s.about.Subscription == nil:
			err = g.passNamed(ctx, f, s.message)
		case s.ends:
			err = g.pass(ctx, s.bytes())
		default:
			err = g.passLong(ctx, f, s)
		}
		if err != nil {
			return err
		}
		if g.told(s.about.Task); g.upstream != nil && g.ended.Load() && f.upstream.IsDraining() {
			return errLeaves
		}
	}
}

// passNamed passes on a notification that does not say which subscription it is of.
func (g *leg) passNamed(ctx context.Context, f *feed, message []byte) error {
	own := mcp.ForSubscription(message, f.id)
	if own == nil {
		f.drop(audit.DropOther)
		return nil
	}
	return g.pass(ctx, reply.Event(own))
}

// pass has one event passed on when no other leg is in the middle of one.
func (g *leg) pass(ctx context.Context, raw []byte) error {
	return g.withFloor(ctx, func() error { return g.report(ctx, report{raw: raw}) })
}

// passLong passes on an event that comes in pieces, of which s is the first.
func (g *leg) passLong(ctx context.Context, f *feed, s received) error {
	return g.withFloor(ctx, func() error {
		for {
			err := g.report(ctx, report{raw: s.bytes(), within: !s.ends})
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

// report hands a report to the subscription, which takes them one at a time.
func (g *leg) report(ctx context.Context, e report) error {
	e.leg = g
	select {
	case g.l.reports <- e:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
