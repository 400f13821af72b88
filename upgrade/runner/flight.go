package runner

import (
	"cmp"
	"context"
	"time"

	"berth/internal/timed"
	"berth/upgrade/task"
	"berth/upgrade/transport"
)

// flight is a round that was sent, or was to be.
type flight struct {
	at     place
	ctx    *timed.Context  // of the round
	line   context.Context // of the exchange
	hangUp func()
	begun  time.Time
	ex     transport.Exchange
	err    error // why there is none
}

// takeOff sends the round that is due.
func (rd *round) takeOff(at place) {
	f := flight{begun: time.Now()}
	f.ctx = rd.bounded()
	f.line, f.hangUp = rd.stream.line(f.ctx)
	f.ex, f.at, f.err = rd.dispatch(f.ctx, f.line, at)
	rd.flight = f
}

// land hears what comes of the round that was sent, and acts on it.
func (rd *round) land() (again bool, err error) {
	f := rd.flight
	rd.flight = flight{}
	defer rd.room.Give()
	defer f.ctx.End()
	defer f.hangUp()
	defer rd.slot.leave(f.at)
	var answer *reply
	if err = f.err; err == nil {
		answer, err = rd.stream.listen(f.ctx, f.line, f.at.Upstream, f.ex)
	}
	return rd.conclude(f.ctx, f.at, answer, err, f.begun)
}

// goOn takes the call through its rounds, and lets go of it. bare of them have followed one another at once.
func (rd *round) goOn(bare int) {
	for {
		sent, again, err := rd.play(bare)
		if rd.rests(bare) {
			return // this one's stack is deep by now, and thousands rest for minutes
		}
		if sent {
			again, err = rd.land()
		}
		if !rd.follows(again, err) {
			return
		}
		if !rd.waits() {
			bare++
		}
	}
}

func (rd *round) landed(bare int) {
	again, err := rd.land()
	if rd.follows(again, err) {
		rd.goOn(bare + 1)
	}
}

// follows reports whether the next round is to follow. Else it lets go of the call.
func (rd *round) follows(again bool, err error) bool {
	if again && err == nil {
		return true
	}
	forget := rd.over(err)
	if rd.leaves(err) {
		rd.r.giveUp(context.Background(), rd.record(), rd.state, rd.renewed().Envelope, rd.why(err))
	}
	rd.release(forget)
	return false
}

// leaves reports whether the call, which has ended here with err, may go on at an upstream that holds it while its client is asked. A hang-up
// alone could be a client's that comes back.
func (rd *round) leaves(err error) bool {
	switch state := rd.record().State; {
	case len(rd.state) == 0:
		return false
	case err != nil:
		return rd.stream.abandons(err)
	default: // it was told an error, which may be about the answers alone, or was cancelled meanwhile
		return state.Terminal() && state != task.Completed
	}
}

// why is why such a call is given up.
func (rd *round) why(err error) error {
	if err == nil && rd.record().State == task.Cancelled {
		return errCancelled
	}
	return cmp.Or(err, errDiscarded)
}

// waits reports whether the round that is due could not be sent, and is to wait for its place once more.
func (rd *round) waits() bool { return len(rd.slot.avoid.upstreams) > 0 }

// rests reports whether the exchange rests, and has the round land once it has something to tell.
func (rd *round) rests(bare int) bool {
	resting, ok := rd.flight.ex.(transport.Resting)
	return ok && resting.Rest(func() { rd.landed(bare) })
}
