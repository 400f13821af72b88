package proxy

import (
	"errors"

	"berth/internal/exchange"
	"berth/internal/limit"
	"berth/proxy/fault"
)

// admission is what a request takes of the load, until it ends.
type admission struct {
	call   bool  // counts as a call under way
	stream bool  // counts as a standing stream
	body   int64 // bytes of its body
}

// admit turns the request away if there is no room for one more: before anybody looks
// who calls, and before its body is read.
func (x *request) admit() error {
	d := x.p.load
	if d.memory.Short() && (d.memory.Out() || !x.IsSmall()) {
		return d.full(shedMemory)
	}
	if d.calls.Held() >= d.inFlight {
		return d.full(shedInFlight)
	}
	return nil
}

// spareMemory turns new work away while memory is short.
func (x *request) spareMemory() error {
	if !x.p.load.memory.Short() || x.ConcernsBegun() {
		return nil
	}
	var tasks keeper
	if x.p.options.Tasks != nil && (x.upgradable() || x.asksCoreTask()) {
		tasks = x.p.options.Tasks
	}
	return x.p.load.spareMemory(tasks, x.Caller)
}

// keeper is what is asked of upgrade.Tasks while memory is short.
type keeper interface {
	InMemory() int64
	KeepsMuch(caller string) bool
}

// spareMemory turns new work of a caller's away. Where it is what tasks keep that fills the
// memory, and this would be one of tasks, the caller whose keep most is refused, and others go
// on; nil: it would not.
func (d *load) spareMemory(tasks keeper, caller string) error {
	switch {
	case tasks == nil || tasks.InMemory() < d.memory.Limit()/keptFills:
		return d.full(shedMemory)
	case tasks.KeepsMuch(caller):
		return d.tooMuch(shedKept, fault.TooMuchKept, fault.RetryKept)
	}
	return nil
}

// keptFills is the share of the memory limit, as a divisor, from which on it is what tasks
// keep that fills the memory.
const keptFills = 8

// enter lets the request in, as a call of its caller's. Its body is here by then: those
// that come slowly keep nobody out.
func (x *request) enter() error {
	d := x.p.load
	switch err := d.calls.Take(x.Caller, 1); {
	case errors.Is(err, limit.ErrCallerFull):
		return d.tooMuch(shedCallerCalls, fault.TooManyCalls, fault.RetrySoon)
	case err != nil:
		return d.full(shedInFlight)
	}
	x.held.call = true
	d.admitted()
	return nil
}

// place gives the request the place that is due to what it asks for, now that this is
// known: a standing stream one among streams, a poll one within its caller's rate, and
// new work none that is kept for work that has begun.
func (x *request) place() error {
	d := x.p.load
	if err := x.spareMemory(); err != nil {
		return err
	}
	if !x.Stands() {
		if err := x.spareReserve(); err != nil {
			return err
		}
	}
	if wait := d.polls.Take(x.Caller, x.Polls()); wait > 0 {
		return d.tooMuch(shedPolls, fault.TooManyPolls, wait)
	}
	if x.Stands() {
		return x.placeStream()
	}
	return nil
}

// spareReserve turns the request away if what room there is is kept for work that has
// begun, and it is not about such.
func (x *request) spareReserve() error {
	d := x.p.load
	if !x.ConcernsBegun() && d.calls.Held() > d.inFlight-d.inFlight/reserve {
		return d.full(shedReserve)
	}
	return nil
}

// placeStream moves the request from the calls to the standing streams.
func (x *request) placeStream() error {
	d := x.p.load
	switch err := d.streams.Take(x.Caller, 1); {
	case errors.Is(err, limit.ErrCallerFull):
		return d.tooMuch(shedCallerStreams, fault.TooManyStreams, fault.RetrySoon)
	case err != nil:
		return d.full(shedStreams)
	}
	x.held.stream = true
	x.leaveCalls()
	return nil
}

// hold takes n more bytes for the request's body. They count until the request ends:
// what was peeked at refers to them.
func (x *request) hold(n int64) error {
	if x.p.load.bodies.Take(x.Caller, n) != nil {
		return x.p.load.full(shedBuffered)
	}
	x.held.body += n
	return nil
}

// noteStarved notes that berth itself had nothing to ask an upstream with.
func (x *request) noteStarved(err error) {
	var failed *exchange.SendError
	if errors.As(err, &failed) && failed.Starved {
		x.p.load.shed(shedConnections)
	}
}

func (x *request) leaveCalls() {
	if x.held.call {
		x.p.load.calls.Give(x.Caller, 1)
		x.held.call = false
	}
}

// leave gives back all that the request took.
func (x *request) leave() {
	x.leaveCalls()
	if x.held.stream {
		x.p.load.streams.Give(x.Caller, 1)
		x.held.stream = false
	}
	if x.held.body > 0 {
		x.p.load.bodies.Give(x.Caller, x.held.body)
		x.held.body = 0
	}
}
