package subscribe

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"berth/internal/mcp"
	"berth/proxy/audit"
	"berth/proxy/fault"
	"berth/proxy/reply"
	"berth/upgrade"
)

// run passes on what the legs say until all have ended, the client is gone, or berth
// drains.
func (l *Subscription) run() error {
	keepAlive := l.Out.NewKeepAlive()
	defer keepAlive.Stop()
	err := l.judge()
	for err == nil {
		err = l.turn(keepAlive.Due())
		keepAlive.Said()
	}
	if errors.Is(err, errFeedEnded) {
		return l.complete()
	}
	return err
}

// turn waits for the next thing to happen. In the middle of an event only the leg that
// speaks may go on.
func (l *Subscription) turn(silent <-chan time.Time) error {
	shared := l.inbox.filled()
	if l.speaking != nil {
		shared = nil
	}
	select {
	case e := <-l.reports:
		return l.take(e)
	case <-shared:
		return l.takeShared()
	case <-silent:
		if l.speaking != nil {
			return nil
		}
		return l.Out.WriteThrough(reply.Comment)
	case <-l.replaced:
		l.follow()
		return l.judge()
	case <-l.grace.C:
		return fault.ErrNobodyLeft
	case <-l.all.Draining:
		return errFeedEnded
	case <-l.HTTP.Context().Done():
		return fault.ErrClientGone
	}
}

func (l *Subscription) takeShared() error {
	reports, err := l.inbox.take()
	for _, e := range reports {
		err = cmp.Or(err, l.take(e))
	}
	return err
}

// take acts on what happened to a leg. errFeedEnded says that all have ended.
func (l *Subscription) take(e report) error {
	if e.view != nil {
		defer e.view.Return()
	}
	switch {
	case e.raw != nil && e.leg.shared: // it may stand for those of other legs as well, though its own has left meanwhile
		return l.passShared(e)
	case !slices.Contains(l.legs, e.leg):
		dropRefusal(e.lost)
		return nil
	case e.view != nil:
		l.speaking = nil
		l.Stands.Sent()
		err := l.Out.WriteEvent(e.view.Notification(l.ID))
		if err == nil && (e.view.State == upgrade.Completed || e.view.State == upgrade.Failed) {
			l.all.Reporter.ToldOnStream(l.Call, e.view.ID, e.view.Upstream, e.view.Holder)
		}
		return err
	case e.raw != nil:
		return l.pass(e)
	case e.done:
		l.dropUnlessLast(e.leg)
	case e.joined != nil:
		if e.leg.stand(e.joined); e.leg.isIdle() && len(l.legs) == 1 {
			return errFeedEnded // what it had agreed to is gone, and with it the last purpose
		} else if e.leg.isIdle() {
			l.drop(e.leg)
		}
		l.hears()
	case l.speaking == e.leg:
		return fault.BrokenOff(e.lost) // the client has half an event
	default:
		if err := l.lose(e); err != nil {
			return err
		}
	}
	return l.judge()
}

// pass passes an event on, or a piece of one.
func (l *Subscription) pass(e report) error {
	l.speaking = nil
	if e.within {
		l.speaking = e.leg
	} else {
		l.Stands.Sent()
	}
	return l.Out.WriteThrough(e.raw)
}

// passShared passes a notification on that all subscribers of a stream hear, if this one was
// told that it would come: what its stream has agreed to since is not part of that.
func (l *Subscription) passShared(e report) error {
	own, reason := mcp.ForSubscription(e.raw, l.ID), audit.DropUnasked
	switch {
	case own == nil:
		reason = audit.DropOther
	case l.agreed.Grants(e.about.Method, e.about.URI, e.about.Task.ID):
		l.Stands.Sent()
		return l.Out.WriteThrough(reply.Event(own))
	}
	l.all.Reporter.Dropped(l.PoolName(), e.leg.upstream, reason)
	return nil
}

// lose notes that a leg's stream is lost. One that was refused is not joined again: where it was the last, that is no end in order,
// and its client is to ask for itself.
func (l *Subscription) lose(e report) (err error) {
	refusal, answered := errors.AsType[*Refusal](e.lost)
	switch {
	case errors.Is(e.lost, errFeedEnded), errors.Is(e.lost, errTasksOver), errors.Is(e.lost, errLeaves) && e.leg.shared:
		e.leg.state = legOver
	case answered && !refusal.passing():
		if l.drop(e.leg); l.isOver() {
			err = fault.ErrNobodyLeft
		}
	default:
		e.leg.state = legLost
	}
	refusal.drop()
	return err
}

// isOver reports whether no leg stands, or is to be joined.
func (l *Subscription) isOver() bool {
	return !l.any(legStanding) && !l.any(legLost) && !l.any(legJoining)
}

// judge ends the subscription in order when all legs have ended in order, and gives
// those that broke the owner's grace to come back when none stands.
func (l *Subscription) judge() error {
	stands := l.any(legStanding)
	switch {
	case l.isOver():
		return errFeedEnded
	case stands && l.graceRuns:
		l.grace.Stop()
	case !stands && !l.graceRuns:
		l.grace.Reset(l.Endpoint.OwnerGrace)
	}
	l.graceRuns = !stands
	return nil
}

// complete ends the subscription in order: its completion result tells the client that
// nothing broke (2026-07-28, subscriptions, "Graceful Closure").
func (l *Subscription) complete() error {
	if l.speaking != nil {
		return fault.ErrNobodyLeft
	}
	return l.Out.WriteThrough(reply.Event(mcp.SubscriptionEnd(l.ID)))
}
