package proxy

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/reply"
)

// subscription is a client's subscription: one stream to the client, made of legs. All
// but running belongs to the request's goroutine.
type subscription struct {
	x     *request
	ctx   context.Context // ends with the client, or with the subscription
	end   context.CancelFunc
	asked mcp.Filter
	legs  []*leg // those that have not ended for good

	agreed mcp.Filter // what the client was told, once acknowledged is closed

	upgraded *upgradedAudience // nil: no task of berth's own making is asked for

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
	upgraded, err := x.upgradedAudience()
	if err != nil {
		return err
	}
	defer upgraded.close()
	audience, err := x.Endpoint.Router.Audience(x.HTTP.Context(), upgraded.narrow(x.query()))
	if err != nil {
		return err
	}
	if err := x.chargeMisses(audience.Unknown); err != nil {
		return err
	}
	l := newSubscription(x)
	l.upgraded = upgraded
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
		asked:        x.Single().Listen,
		events:       make(chan legEvent),
		inbox:        newInbox(),
		floor:        make(chan struct{}, 1),
		acknowledged: make(chan struct{}),
		alone:        time.NewTimer(0),
	}
	l.alone.Stop()
	l.ctx, l.end = context.WithCancel(x.HTTP.Context())
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
	l.x.rec.Upstream = l.names()
	l.beginStream(first)
	l.agreed = agreed.Within(l.asked)
	close(l.acknowledged)
	return l.send(reply.Event(mcp.Acknowledgement(l.x.ID, l.agreed)))
}

// beginStream sends the header, which is that of the upstream which agreed first. Where
// berth alone serves the subscription it is berth's own.
func (l *subscription) beginStream(first *feed) {
	if first == nil {
		l.x.out.OwnStreamHeaders()
		l.x.out.WriteHeader(wire.StatusOK)
		return
	}
	l.x.streamHeaders(first.response)
	l.x.out.WriteHeader(first.response.Status)
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
		if g.state == legStanding && !g.shared && g.at != "" {
			names = append(names, g.at)
		}
	}
	return strings.Join(names, ",")
}
