package subscribe

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"berth/internal/exchange"
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
	stands  bool     // a leg does, or did
	first   *feed    // the first that was acknowledged; nil: none at an upstream
	refusal *Refusal // the first
	failed  error    // why one was lost
}

// gather waits for the legs' acknowledgements: for all of them, but no longer than
// ackPatience if there is one. It returns the first feed, nil if all that stands is
// berth's own leg. If none stands the error is a *Refusal, or why nobody answered.
func (l *Subscription) gather() (*feed, error) {
	patience, most := time.NewTimer(ackPatience), time.NewTimer(cmp.Or(l.Endpoint.Timeouts.Control, ackMost)+ackPatience)
	defer patience.Stop()
	defer most.Stop()
	g := gathered{stands: l.any(legStanding)}
	overdue := false
	for l.awaits() && !(overdue && g.stands) {
		select {
		case e := <-l.reports:
			l.note(&g, e)
		case <-l.inbox.filled():
			reports, err := l.inbox.take()
			if err != nil {
				return g.instead(err)
			}
			for _, e := range reports {
				l.note(&g, e)
			}
		case <-patience.C:
			overdue = true
		case <-most.C:
			return g.outcome(l.unanswered())
		case <-l.all.Draining:
			return g.instead(fault.Draining)
		case <-l.HTTP.Context().Done():
			return g.instead(fault.ErrClientGone)
		}
	}
	return g.outcome(l.unanswered())
}

// unanswered says what it means that no upstream has answered.
func (l *Subscription) unanswered() error {
	if len(l.legs) == 0 || slices.ContainsFunc(l.legs, func(g *leg) bool { return !g.shared && g.upstream != nil }) {
		return fault.OwnerSilent
	}
	return routing.ErrNoUpstream
}

// awaits reports whether some leg may still be acknowledged soon.
func (l *Subscription) awaits() bool {
	return slices.ContainsFunc(l.legs, func(g *leg) bool {
		return g.state == legJoining && (g.upstream == nil || !g.upstream.Silent() && !(g.shared && g.upstream.IsDraining()))
	})
}

func (l *Subscription) any(state legState) bool {
	return slices.ContainsFunc(l.legs, func(g *leg) bool { return g.state == state })
}

// note takes in what happened to a leg before the acknowledgement. What is said before
// it is said to nobody.
func (l *Subscription) note(g *gathered, e report) {
	switch {
	case e.joined != nil:
		e.leg.stand(e.joined)
		g.stands, g.first = true, cmp.Or(g.first, e.joined)
	case e.lost != nil:
		l.noteLoss(g, e)
	}
}

func (l *Subscription) noteLoss(g *gathered, e report) {
	e.leg.state = legLost
	refusal, answered := errors.AsType[*Refusal](e.lost)
	failed, unanswered := errors.AsType[*exchange.SendError](e.lost)
	if answered && !refusal.passing() {
		e.leg.state = legRefused
	}
	switch {
	case answered && g.refusal == nil:
		g.refusal = refusal
	case answered:
		refusal.drop()
	case unanswered && !failed.Sent && e.leg.upstream != nil:
		g.failed = l.unanswered()
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
		g.refusal.drop()
		return g.first, nil
	case g.refusal != nil:
		return nil, g.refusal
	}
	return nil, cmp.Or(g.failed, otherwise)
}

// instead drops what was gathered for a reason that counts more.
func (g *gathered) instead(err error) (*feed, error) {
	g.refusal.drop()
	return nil, err
}
