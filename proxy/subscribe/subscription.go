package subscribe

import (
	"errors"
	"slices"
	"sync"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/listen"
	"berth/internal/wire"
	"berth/proxy/reply"
	"berth/routing"
	"berth/sticky"
)

// Subscription is one client's: one stream to it, made of legs. All but running belongs to
// the request's goroutine.
type Subscription struct {
	*Request

	Source    sticky.Source // where the first owner of its tasks was found
	Upstreams []string      // those that agreed to it

	all   *Subscriptions
	asked listen.Filter
	legs  []*leg // those that have not ended for good

	agreed listen.Filter // what the client was told, once acknowledged is closed

	own *ownTasks // nil: no task of berth's own making is asked for

	fleetwide listen.Filter       // what all upstreams are asked for
	heard     []*routing.Upstream // these
	replaced  <-chan struct{}     // closed once the pool has others; nil: that does not matter

	reports      chan report   // of the client's own legs
	inbox        *inbox        // of those at streams that subscribers share; nil: there are none
	floor        chan struct{} // held by the own leg whose event is being passed on
	acknowledged chan struct{} // closed once the client was told what was agreed to
	running      sync.WaitGroup

	speaking  *leg        // the client has the beginning of its event
	grace     *time.Timer // runs out when no leg has stood for too long
	graceRuns bool
}

func (s *Subscriptions) newSubscription(r *Request, own *ownTasks) *Subscription {
	l := &Subscription{
		Request:      r,
		all:          s,
		asked:        r.Single().Listen,
		own:          own,
		reports:      make(chan report),
		floor:        make(chan struct{}, 1),
		acknowledged: make(chan struct{}),
		grace:        time.NewTimer(0),
	}
	l.grace.Stop()
	return l
}

// Serve serves the subscription until its end. A refusal is what an upstream gave in its
// place, for the client to get; it can be read until Close.
func (l *Subscription) Serve() (*Refusal, error) {
	first, err := l.gather()
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refusal, nil
	}
	if err == nil {
		err = l.acknowledge(first)
	}
	if err == nil {
		err = l.run()
	}
	return nil, err
}

// Close ends all legs and waits for them.
func (l *Subscription) Close() {
	for _, g := range l.legs {
		g.end()
	}
	l.running.Wait()
	l.grace.Stop()
	l.own.close()
}

// drop ends a leg for good.
func (l *Subscription) drop(g *leg) {
	g.end()
	l.legs = slices.DeleteFunc(l.legs, func(other *leg) bool { return other == g })
}

// dropUnlessLast drops a leg that will have nothing to say. The last one stays: when to end
// is its upstream's to say, or the client's.
func (l *Subscription) dropUnlessLast(g *leg) {
	if len(l.legs) > 1 {
		l.drop(g)
	}
}

// acknowledge tells the client what was agreed to, as the first thing at all. Those
// that have not agreed by now are left out; only what serves all subscribers may still
// join.
func (l *Subscription) acknowledge(first *feed) error {
	var agreed listen.Filter
	for _, g := range slices.Clone(l.legs) {
		switch {
		case g.state != legStanding && !g.shared, g.state == legRefused:
			l.drop(g)
		case g.state == legStanding:
			agreed = agreed.And(g.agreed)
			if g.isIdle() {
				l.dropUnlessLast(g)
			}
		}
	}
	l.hears()
	l.beginStream(first)
	l.agreed = agreed.Within(l.asked)
	close(l.acknowledged)
	return l.Out.WriteThrough(reply.Event(mcp.Acknowledgement(l.ID, l.agreed)))
}

// beginStream sends the header, which is that of the upstream which agreed first. Where
// berth alone serves the subscription it is berth's own.
func (l *Subscription) beginStream(first *feed) {
	if first == nil {
		l.Out.OwnStreamHeaders()
		l.Out.WriteHeader(wire.StatusOK)
		return
	}
	l.CopyHeaders(first.response)
	l.Out.WriteHeader(first.response.Status)
}

// hears notes at which upstreams the subscription stands.
func (l *Subscription) hears() {
	var legs []string
	for _, g := range l.legs {
		if g.state != legStanding || g.at == "" {
			continue
		}
		legs = append(legs, g.at)
		if !slices.Contains(l.Upstreams, g.at) {
			l.Upstreams = append(l.Upstreams, g.at)
		}
	}
	l.Stands.Hears(legs...)
}
