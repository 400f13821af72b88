package proxy

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"berth/proxy/audit"

	"berth/internal/mcp"
	"berth/proxy/fault"
	"berth/proxy/reply"
)

// run passes on what the legs say until all have ended, the client is gone, or berth
// drains.
func (l *subscription) run() error {
	silence := l.x.out.NewKeepAlive()
	defer silence.Stop()
	err := l.judge()
	for err == nil {
		err = l.turn(silence.Due())
		silence.Said()
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
		return l.send(reply.Comment)
	case <-l.alone.C:
		return fault.ErrNobodyLeft
	case <-l.x.p.end.draining:
		return errFeedEnded
	case <-l.ctx.Done():
		return fault.ErrClientGone
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
	if e.view != nil {
		defer e.view.Return()
	}
	switch {
	case !slices.Contains(l.legs, e.leg):
		dropRefusal(e.lost)
		return nil
	case e.view != nil:
		l.speaking = nil
		return l.x.out.WriteEvent(e.view.Notification(l.x.ID))
	case e.raw != nil:
		return l.pass(e)
	case e.done:
		l.dropIfDone(e.leg)
	case e.joined != nil:
		e.leg.stand(e.joined)
		if len(l.legs) == 1 && e.leg.agreed.Empty() && !e.leg.asked.Empty() {
			return errFeedEnded // what it had agreed to is gone, and with it the last purpose
		}
		l.dropIfIdle(e.leg)
	default:
		if l.speaking == e.leg {
			return fault.BrokenOff(e.lost) // the client has half an event
		}
		l.lose(e)
	}
	return l.judge()
}

// pass passes an event on, or a piece of one.
func (l *subscription) pass(e legEvent) error {
	if e.leg.shared {
		return l.passShared(e)
	}
	l.speaking = nil
	if e.within {
		l.speaking = e.leg
	}
	return l.send(e.raw)
}

// passShared passes a notification on that all subscribers of a stream hear, if this one was
// told that it would come: what its stream has agreed to since is not part of that.
func (l *subscription) passShared(e legEvent) error {
	own, reason := mcp.ForSubscription(e.raw, l.x.ID), audit.DropUnasked
	switch {
	case own == nil:
		reason = audit.DropOther
	case l.agreed.Grants(e.about):
		return l.send(reply.Event(own))
	}
	l.x.p.audit.Dropped(l.x.PoolName(), e.leg.upstream, reason)
	return nil
}

// dropIfDone drops a leg that will never have anything to say again. The last one stays:
// its client may leave when it likes.
func (l *subscription) dropIfDone(g *leg) {
	if len(l.legs) > 1 {
		l.drop(g)
	}
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
		l.alone.Reset(l.x.Endpoint.OwnerGrace)
	}
	l.deserted = standing == 0
	return nil
}

// send writes to the client, flushed.
func (l *subscription) send(b []byte) error {
	return l.x.out.WriteThrough(b)
}

// goodbye ends the subscription in order: its completion result tells the client that
// nothing broke (2026-07-28, subscriptions, "Graceful Closure").
func (l *subscription) goodbye() error {
	if l.speaking != nil {
		return fault.ErrNobodyLeft
	}
	return l.send(reply.Event(mcp.SubscriptionEnd(l.x.ID)))
}
