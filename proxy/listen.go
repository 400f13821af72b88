package proxy

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"berth/internal/mcp"
)

// errNobodyLeft says that no upstream serves the subscription any more.
var errNobodyLeft = errors.New("proxy: no upstream serves the subscription any more")

// subscription is a client's subscription: one stream to the client, made of legs. All
// but running belongs to the request's goroutine.
type subscription struct {
	x     *request
	ctx   context.Context // ends with the client, or with the subscription
	end   context.CancelFunc
	asked mcp.Filter
	legs  []*leg // those that have not ended for good

	events       chan legEvent // of the client's own legs
	inbox        *inbox        // of those at streams that subscribers share
	floor        chan struct{} // held by the own leg whose event is being passed on
	acknowledged chan struct{} // closed once the client was told what was agreed to
	running      sync.WaitGroup

	speaking *leg        // the client has the beginning of its event
	alone    *time.Timer // runs out when no leg has stood for too long
	deserted bool        // it runs
}

// listen serves a subscription (2026-07-28, "Subscriptions"; Tasks extension, "Task
// Status Notifications"). Its tasks may have several owners, and its other wishes may
// be for the whole fleet; to the client it is one stream.
func (x *request) listen() error {
	audience, err := x.endpoint.Router.Audience(x.r.Context(), x.query())
	if err != nil {
		return err
	}
	if err := x.chargeMisses(audience.Unknown); err != nil {
		return err
	}
	l := newSubscription(x)
	defer l.close()
	l.plan(audience)
	first, err := l.gather()
	if refused, ok := errors.AsType[*refusedFeed](err); ok {
		return x.relayRefusal(refused)
	}
	if err != nil {
		return err
	}
	if err := l.acknowledge(first); err != nil {
		return err
	}
	return l.run()
}

func newSubscription(x *request) *subscription {
	l := &subscription{
		x:            x,
		asked:        x.call().Listen,
		events:       make(chan legEvent),
		inbox:        newInbox(),
		floor:        make(chan struct{}, 1),
		acknowledged: make(chan struct{}),
		alone:        time.NewTimer(0),
	}
	l.alone.Stop()
	l.ctx, l.end = context.WithCancel(x.r.Context())
	return l
}

// close ends all legs and waits for them.
func (l *subscription) close() {
	l.end()
	for _, g := range l.legs {
		g.end()
	}
	l.running.Wait()
	l.alone.Stop()
}

// drop ends a leg for good.
func (l *subscription) drop(g *leg) {
	g.end()
	l.legs = slices.DeleteFunc(l.legs, func(other *leg) bool { return other == g })
}

// acknowledge tells the client what was agreed to, as the first thing at all. Those
// that have not agreed by now are left out; only what serves all subscribers may still
// join.
func (l *subscription) acknowledge(first *feed) error {
	var agreed mcp.Filter
	for _, g := range slices.Clone(l.legs) {
		switch {
		case g.state != legStanding && !g.shared, g.state == legRefused:
			l.drop(g)
		case g.state == legStanding:
			agreed = agreed.And(g.agreed)
			l.dropIfIdle(g)
		}
	}
	l.x.upstream = l.names()
	l.x.streamHeaders(first.response)
	l.x.writeHeader(first.response.StatusCode)
	close(l.acknowledged)
	return l.send(event(mcp.Acknowledgement(l.x.id, agreed.Within(l.asked))))
}

// dropIfIdle drops a leg that agreed to nothing of what it is for. The last one stays:
// whether to end is its upstream's to say.
func (l *subscription) dropIfIdle(g *leg) {
	if g.agreed.Empty() && !g.asked.Empty() && len(l.legs) > 1 {
		l.drop(g)
	}
}

// names are the upstreams that the client's own legs stand at.
func (l *subscription) names() string {
	var names []string
	for _, g := range l.legs {
		if g.state == legStanding && !g.shared {
			names = append(names, g.at)
		}
	}
	return strings.Join(names, ",")
}

// run passes on what the legs say until all have ended, the client is gone, or berth
// drains.
func (l *subscription) run() error {
	interval := cmp.Or(l.x.endpoint.KeepAlive, defaultKeepAlive)
	silence := time.NewTimer(interval)
	defer silence.Stop()
	err := l.judge()
	for err == nil {
		err = l.turn(silence.C)
		silence.Reset(interval)
	}
	if errors.Is(err, errFeedEnded) {
		return l.goodbye()
	}
	return err
}

// turn waits for the next thing to happen. In the middle of an event only the leg that
// speaks may go on.
func (l *subscription) turn(silence <-chan time.Time) error {
	between := l.inbox.wake
	if l.speaking != nil {
		between = nil
	}
	select {
	case e := <-l.events:
		return l.take(e)
	case <-between:
		return l.takeShared()
	case <-silence:
		if l.speaking != nil {
			return nil
		}
		return l.send(comment)
	case <-l.alone.C:
		return errNobodyLeft
	case <-l.x.p.draining:
		return errFeedEnded
	case <-l.ctx.Done():
		return errClientGone
	}
}

func (l *subscription) takeShared() error {
	events, err := l.inbox.take()
	for _, e := range events {
		err = cmp.Or(err, l.take(e))
	}
	return err
}

// take acts on what happened to a leg. errFeedEnded says that all have ended.
func (l *subscription) take(e legEvent) error {
	switch {
	case !slices.Contains(l.legs, e.leg):
		dropRefusal(e.lost)
		return nil
	case e.raw != nil:
		return l.pass(e)
	case e.joined != nil:
		e.leg.stand(e.joined)
		if len(l.legs) == 1 && e.leg.agreed.Empty() && !e.leg.asked.Empty() {
			return errFeedEnded // what it had agreed to is gone, and with it the last purpose
		}
		l.dropIfIdle(e.leg)
	default:
		if l.speaking == e.leg {
			return brokenOff(e.lost) // the client has half an event
		}
		l.lose(e)
	}
	return l.judge()
}

// pass passes an event on, or a piece of one.
func (l *subscription) pass(e legEvent) error {
	if e.leg.shared {
		return l.send(event(mcp.ForSubscription(e.raw, l.x.id)))
	}
	l.speaking = nil
	if e.within {
		l.speaking = e.leg
	}
	return l.send(e.raw)
}

// lose notes that a leg's stream is lost. One that was refused is not joined again.
func (l *subscription) lose(e legEvent) {
	refused, answered := errors.AsType[*refusedFeed](e.lost)
	switch {
	case errors.Is(e.lost, errFeedEnded):
		e.leg.state = legOver
	case answered && !refused.passing():
		l.drop(e.leg)
	default:
		e.leg.state = legLost
	}
	dropRefusal(e.lost)
}

// judge ends the subscription in order when all legs have ended in order, and gives
// those that broke the owner's grace to come back when none stands.
func (l *subscription) judge() error {
	standing, lost := 0, 0
	for _, g := range l.legs {
		switch g.state {
		case legStanding:
			standing++
		case legLost, legJoining:
			lost++
		}
	}
	switch {
	case standing == 0 && lost == 0:
		return errFeedEnded
	case standing > 0 && l.deserted:
		l.alone.Stop()
	case standing == 0 && !l.deserted:
		l.alone.Reset(l.x.endpoint.OwnerGrace)
	}
	l.deserted = standing == 0
	return nil
}

// send writes to the client, flushed.
func (l *subscription) send(b []byte) error {
	if err := l.x.write(b); err != nil {
		return err
	}
	return l.x.flush()
}

// goodbye ends the subscription in order: its completion result tells the client that
// nothing broke (2026-07-28, subscriptions, "Graceful Closure").
func (l *subscription) goodbye() error {
	if l.speaking != nil {
		return errNobodyLeft
	}
	return l.send(event(mcp.SubscriptionEnd(l.x.id)))
}
