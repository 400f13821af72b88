package proxy

import (
	"berth/internal/mcp"
	"berth/proxy/admission"
	"berth/proxy/announce"
	"berth/proxy/audit"
	"berth/proxy/course"
	"berth/proxy/draft"
	"berth/proxy/failover"
	"berth/proxy/inbound"
	"berth/proxy/lingering"
	"berth/proxy/polls"
	"berth/proxy/record"
	"berth/proxy/reply"
)

// request is one request of a client on its way through the proxy. It lives in
// one goroutine.
type request struct {
	p   *Proxy
	out *reply.Writer // what is answered

	course.Routed

	seat  admission.Seat      // what it holds of the limits
	reads *lingering.Exchange // what is read on if the client leaves; nil: nothing
	left  string              // name of the lost upstream that one of them was bound to

	made draft.Tasks // those whose ids the client makes

	asking string // the task that waits for the response that it is; only where deeds are written down

	poll   *polls.Poll  // the poll that this request leads; nil: none
	change polls.Change // what the request changes of tasks

	recorder record.Recorder // of what the answer tells

	announced *announce.Answer // by which clients learn what can be a task; nil: another

	again bool // it was sent a second time where it was sent last

	owed debt // the responses that an event stream is still to bring

	standing *stream // of a session, which was begun and is to be relayed yet; nil: none

	rec     audit.Record // what is reported
	aborted bool         // the answer must not end as if it were whole

	over    func()         // is called when the request is
	memory  *requestMemory // nil: its stream stands
	relayed bool           // the answer was passed on, whole

	charged  bool // by rules about tools, late
	answered bool // by berth itself, whole, about a task of its own
	bodyKept bool // such a task may have the body for longer than the request lasts
}

// serve takes the request through its life. What it returns is answered by fail.
func (x *request) serve() error {
	arrival := inbound.Arrival{Call: x.Call}
	if err := x.accept(arrival); err != nil {
		return err
	}
	if err := arrival.Read(x.memory.body, x.seat.Hold); err != nil {
		return err
	}
	if err := x.seat.Enter(); err != nil {
		return err
	}
	if x.AsksForResource() {
		return serveResource(x.Call, x.out)
	}
	if x.BeforeAuthorization() {
		return x.passThrough()
	}
	if err := arrival.Understand(); err != nil {
		return err
	}
	if err := x.seat.Place(x.Call, x.p.keeper); err != nil {
		return err
	}
	if err := mayOpen(x.Call, x.p.gate); err != nil {
		return err
	}
	if len(x.Charges) > 0 && !x.p.tasks.PutsOffCharge(x.Call) {
		if err := x.p.gate.Charge(x.HTTP.Context(), x.Call); err != nil {
			return err
		}
	}
	return x.forward()
}

// mayOpen turns an initialize away whose caller keeps as much of sessions as one may.
func mayOpen(c *inbound.Call, gate *admission.Gate) error {
	if one := c.Single(); one == nil || one.Method != mcp.MethodInitialize {
		return nil
	}
	if c.Endpoint.Router.Bindings.MakeRoom(c.HTTP.Context(), c.Caller, failover.RoomFor(c)) {
		return nil
	}
	return gate.TurnAwaySession()
}

// accept judges what the header says, before the body is read.
func (x *request) accept(arrival inbound.Arrival) error {
	err := arrival.Guard()
	if x.Endpoint != nil {
		x.out.Silence = x.Endpoint.KeepAlive
	}
	if x.Origin != "" {
		x.out.LetRead(x.Origin, x.Endpoint.Lists(x.Origin))
	}
	if err != nil {
		return err
	}
	if err := arrival.CheckMethod(); err != nil {
		return err
	}
	if err := arrival.CheckBody(); err != nil {
		return err
	}
	if err := x.p.gate.Admit(x.Call); err != nil {
		return err
	}
	if err := arrival.Recognise(); err != nil {
		return err
	}
	x.seat = x.p.gate.Seat(x.Caller)
	return nil
}
