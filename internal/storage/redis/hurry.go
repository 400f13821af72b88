package redis

import (
	"context"
	"slices"
	"time"

	"berth/internal/storage/engine"
)

// A passenger is in a hurry whose caller leaves before a trip may have ended. It has the time for an answer when it boards.
// It goes only by a connection that is there, leads a trip only if it has that time then, and waits for the trip before only as
// long: else it steps off before anything of it was sent, and asks by itself. On its way it leaves when its time is up: its answer is read for
// nobody.

// await returns once p is to lead its lane's next trip, or has arrived.
func (t *trips) await(on *lane, p *passenger) (leads bool, err error) {
	if p.end.IsZero() {
		return <-p.arrived, nil
	}
	p.wake(time.Until(p.end) - t.least)
	defer p.alarm.Stop()
	select {
	case leads = <-p.arrived:
		return leads, nil
	case <-p.alarm.C:
	}
	if t.stepOff(on, p, false) {
		return false, engine.ErrAshore
	}
	p.wake(time.Until(p.end))
	select {
	case leads = <-p.arrived:
		return leads, nil
	case <-p.alarm.C:
		p.left = true
		return false, context.DeadlineExceeded
	}
}

// wake sets p's alarm, which is used again.
func (p *passenger) wake(after time.Duration) {
	if p.alarm == nil {
		p.alarm = time.NewTimer(after)
	} else {
		p.alarm.Reset(after)
	}
}

// mayLead reports whether the lane's next trip may end when p's caller leaves, if it does: others are aboard, who are to have
// the time for an answer. A new connection might take all of it.
func (t *trips) mayLead(on *lane, p *passenger) bool {
	if p.end.IsZero() {
		return true
	}
	now := time.Now()
	return p.end.Sub(now) >= t.least && t.standing(on, now) != nil
}

// stepOff takes p off its lane, and passes that on if p leads; false: p is under way.
func (t *trips) stepOff(on *lane, p *passenger, leads bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.Index(on.aboard, p)
	if at < 0 {
		return false
	}
	on.aboard = slices.Delete(on.aboard, at, at+1)
	select {
	case leads = <-p.arrived: // in this moment
	default:
	}
	if leads {
		on.pass()
	}
	return true
}

// setAshore takes those in a hurry off a trip for which a connection is to be made, but for who leads it. It is called with the
// trips' mutex held.
func (l *lane) setAshore(leader *passenger) {
	l.aboard = slices.DeleteFunc(l.aboard, func(p *passenger) bool {
		if p.end.IsZero() || p == leader {
			return false
		}
		p.err = engine.ErrAshore
		p.arrived <- false
		return true
	})
}
