package proxy

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/routing"
)

const (
	// ackPatience is how long the acknowledgement waits for those who are slow, once
	// somebody has acknowledged.
	ackPatience = 2 * time.Second

	// ackMost is how long anybody at all is waited for where Timeouts.Control is 0;
	// the acknowledgement has ackPatience more than the answer's headers.
	ackMost = 30 * time.Second
)

// gathered is what the legs have answered before the client was told anything.
type gathered struct {
	stands  bool         // a leg does, or did
	first   *feed        // the first that was acknowledged; nil: none at an upstream
	refused *refusedFeed // the first that was refused
	failed  error        // why one was lost
}

// gather waits for the legs' acknowledgements: for all of them, but no longer than
// ackPatience if there is one. It returns the first feed, nil if all that stands is
// berth's own leg. If none stands the error is a *refusedFeed, or why nobody answered.
func (l *subscription) gather() (*feed, error) {
	patience, most := time.NewTimer(ackPatience), time.NewTimer(cmp.Or(l.x.Endpoint.Timeouts.Control, ackMost)+ackPatience)
	defer patience.Stop()
	defer most.Stop()
	g := gathered{stands: l.standing() > 0}
	overdue := false
	for l.awaited() > 0 && !(overdue && g.stands) {
		select {
		case e := <-l.events:
			l.note(&g, e)
		case <-l.inbox.wake:
			events, err := l.inbox.take()
			if err != nil {
				return g.instead(err)
			}
			for _, e := range events {
				l.note(&g, e)
			}
		case <-patience.C:
			overdue = true
		case <-most.C:
			return g.outcome(l.nobody())
		case <-l.x.p.end.draining:
			return g.instead(fault.Draining)
		case <-l.ctx.Done():
			return g.instead(fault.ErrClientGone)
		}
	}
	return g.outcome(l.nobody())
}

// nobody says what it means that no upstream has answered.
func (l *subscription) nobody() error {
	if len(l.legs) == 0 || slices.ContainsFunc(l.legs, func(g *leg) bool { return !g.shared && g.upstream != nil }) {
		return fault.OwnerSilent
	}
	return routing.ErrNoUpstream
}

// awaited counts the legs that may still acknowledge soon.
func (l *subscription) awaited() int {
	n := 0
	for _, g := range l.legs {
		if g.state == legJoining && (g.upstream == nil || !g.upstream.Silent()) {
			n++
		}
	}
	return n
}

// standing counts the legs that stand.
func (l *subscription) standing() int {
	n := 0
	for _, g := range l.legs {
		if g.state == legStanding {
			n++
		}
	}
	return n
}

// note takes in what happened to a leg before the acknowledgement. What is said before
// it is said to nobody.
func (l *subscription) note(g *gathered, e legEvent) {
	switch {
	case e.joined != nil:
		e.leg.stand(e.joined)
		g.stands, g.first = true, cmp.Or(g.first, e.joined)
	case e.lost != nil:
		l.noteLoss(g, e)
	}
}

func (l *subscription) noteLoss(g *gathered, e legEvent) {
	e.leg.state = legLost
	refused, answered := errors.AsType[*refusedFeed](e.lost)
	failed, unanswered := errors.AsType[*exchange.SendError](e.lost)
	if answered && !refused.passing() {
		e.leg.state = legRefused
	}
	switch {
	case answered && g.refused == nil:
		g.refused = refused
	case answered:
		refused.drop()
	case unanswered && !failed.Sent && e.leg.upstream != nil:
		g.failed = l.nobody()
	case unanswered, errors.Is(e.lost, routing.ErrNoUpstream):
		g.failed = e.lost
	default:
		g.failed = fault.BrokenOff(e.lost)
	}
}

// outcome is the first feed, or what to answer in its place.
func (g *gathered) outcome(otherwise error) (*feed, error) {
	switch {
	case g.stands:
		g.refused.drop()
		return g.first, nil
	case g.refused != nil:
		return nil, g.refused
	}
	return nil, cmp.Or(g.failed, otherwise)
}

// instead drops what was gathered for a reason that counts more.
func (g *gathered) instead(err error) (*feed, error) {
	g.refused.drop()
	return nil, err
}

// relayRefusal passes on what an upstream answered in place of a subscription.
func (x *request) relayRefusal(refused *refusedFeed) error {
	if refused.upstream != nil {
		x.rec.Upstream = refused.upstream.Name
	}
	if refused.response != nil {
		return x.relayAnswer(refused.upstream, refused.response)
	}
	if a, err := mcp.PeekAnswer(refused.message, false); err == nil {
		x.rec.Code = a.ErrorCode
	}
	x.out.Respond(wire.StatusOK, refused.message)
	return nil
}
