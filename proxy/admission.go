package proxy

import (
	"errors"

	"berth/internal/exchange"
	"berth/internal/limit"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/routing"
)

// admission is what a request takes of the load, until it ends.
type admission struct {
	caller string
	call   bool  // counts as a call under way
	stream bool  // counts as a standing stream
	body   int64 // bytes of its body
}

// admit turns the request away if there is no room for one more: before anybody looks
// who calls, and before its body is read.
func (x *request) admit() error {
	d := x.p.load
	if d.memory.Short() && (d.memory.Out() || !x.isSmall()) {
		return d.full(shedMemory)
	}
	if d.calls.Held() >= d.inFlight {
		return d.full(shedInFlight)
	}
	return nil
}

// small is how large the body of a request may be that is looked at while memory is short, in
// bytes: it may be a poll, and those are answered for as long as possible.
const small = 64 << 10

func (x *request) isSmall() bool { return x.r.ContentLength >= 0 && x.r.ContentLength <= small }

// spareMemory turns new work away while memory is short.
func (x *request) spareMemory() error {
	if !x.p.load.memory.Short() || x.concernsBegun() {
		return nil
	}
	var tasks keeper
	if x.p.options.Tasks != nil && (x.upgradable() || x.asksCoreTask()) {
		tasks = x.p.options.Tasks
	}
	return x.p.load.spareMemory(tasks, x.held.caller)
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
	switch err := d.calls.Take(x.held.caller, 1); {
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
	if !x.stands() {
		if err := x.spareReserve(); err != nil {
			return err
		}
	}
	if wait := d.polls.Take(x.held.caller, x.polls()); wait > 0 {
		return d.tooMuch(shedPolls, fault.TooManyPolls, wait)
	}
	if x.stands() {
		return x.placeStream()
	}
	return nil
}

// spareReserve turns the request away if what room there is is kept for work that has
// begun, and it is not about such.
func (x *request) spareReserve() error {
	d := x.p.load
	if !x.concernsBegun() && d.calls.Held() > d.inFlight-d.inFlight/reserve {
		return d.full(shedReserve)
	}
	return nil
}

// placeStream moves the request from the calls to the standing streams.
func (x *request) placeStream() error {
	d := x.p.load
	switch err := d.streams.Take(x.held.caller, 1); {
	case errors.Is(err, limit.ErrCallerFull):
		return d.tooMuch(shedCallerStreams, fault.TooManyStreams, fault.RetrySoon)
	case err != nil:
		return d.full(shedStreams)
	}
	x.held.stream = true
	x.leaveCalls()
	return nil
}

// stands reports whether the request is for a stream that never ends by itself.
func (x *request) stands() bool {
	c := x.call()
	return c == nil && x.r.Method == wire.MethodGet || c != nil && c.Method == mcp.MethodListen
}

// concernsBegun reports whether the request is about work that has begun: a task, an
// answer or a word to a server that waits for it, the end of a session.
func (x *request) concernsBegun() bool {
	if x.r.Method == wire.MethodDelete {
		return true
	}
	for i := range x.message.Calls {
		if c := &x.message.Calls[i]; c.Kind == mcp.KindRequest && !c.IsTask() {
			return false
		}
	}
	return len(x.message.Calls) > 0
}

// polls is how many tasks the request asks for. Those of a subscription are looked up,
// and polled once each.
func (x *request) polls() int {
	n := 0
	for i := range x.message.Calls {
		switch c := &x.message.Calls[i]; c.Method {
		case mcp.MethodGetTask, mcp.MethodTaskResult:
			n++
		case mcp.MethodListen:
			n += min(len(c.Listen.TaskIDs()), routing.MaxListenIDs)
		}
	}
	return n
}

// hold takes n more bytes for the request's body. They count until the request ends:
// what was peeked at refers to them.
func (x *request) hold(n int64) error {
	if x.p.load.bodies.Take(x.held.caller, n) != nil {
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
		x.p.load.calls.Give(x.held.caller, 1)
		x.held.call = false
	}
}

// leave gives back all that the request took.
func (x *request) leave() {
	x.leaveCalls()
	if x.held.stream {
		x.p.load.streams.Give(x.held.caller, 1)
		x.held.stream = false
	}
	if x.held.body > 0 {
		x.p.load.bodies.Give(x.held.caller, x.held.body)
		x.held.body = 0
	}
}
