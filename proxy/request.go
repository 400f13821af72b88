package proxy

import (
	"context"
	"slices"

	"berth/internal/wire"
	"berth/proxy/admission"
	"berth/proxy/announce"
	"berth/proxy/audit"
	"berth/proxy/draft"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/proxy/lingering"
	"berth/proxy/polls"
	"berth/proxy/record"
	"berth/proxy/reply"
	"berth/routing"
)

// request is one request of a client on its way through the proxy. It lives in
// one goroutine.
type request struct {
	p   *Proxy
	out *reply.Writer // what is answered

	*inbound.Call

	seat     admission.Seat // what it holds of the limits
	decision routing.Decision
	ctx      context.Context     // of the upstream's side; set by forward
	reads    *lingering.Exchange // what is read on if the client leaves; nil: nothing
	left     string              // name of the lost upstream that one of them was bound to

	made draft.Tasks // those whose ids the client makes

	Alias     string // what the session is called at the upstream; "": what the client calls it
	movedFrom string // the upstream that the session was moved away from for this request
	asking    string // the task that waits for the response that it is; only where deeds are written down

	stays       bool // the session could not be moved away from an upstream that sessions are to leave
	leavesLater bool // what keeps it there may pass

	stood   standpoint // what the decision was when the router was asked last
	decided bool       // the router was asked

	poll   *polls.Poll  // the poll that this request leads; nil: none
	change polls.Change // what the request changes of tasks

	recorder record.Recorder // of what the answer tells

	announced *announce.Answer // by which clients learn what can be a task; nil: another

	owed debt // the responses that an event stream is still to bring

	standing *stream // of a session, which was begun and is to be relayed yet; nil: none

	rec     audit.Record // what is reported
	aborted bool         // the answer must not end as if it were whole

	over    func() // is called when the request is
	room    *room  // nil: its stream stands
	relayed bool   // the answer was passed on, whole
	kept    bool   // somebody may have something of the request for longer than it lasts

	charged  bool // by rules about tools, late
	answered bool // by berth itself, whole, about a task of its own
	bodyKept bool // such a task may have the body for longer than the request lasts
}

// keep has the call be one that may be kept when the request is over.
func (x *request) keep() {
	if !x.kept {
		x.Call, x.kept = x.Call.Kept(), true
	}
}

// serve takes the request through its life. What it returns is answered by fail.
func (x *request) serve() error {
	arrival := inbound.Arrival{Call: x.Call}
	if err := x.accept(arrival); err != nil {
		return err
	}
	if err := arrival.Read(x.room.body, x.seat.Hold); err != nil {
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
	if err := classify(arrival); err != nil {
		return err
	}
	if err := x.seat.Place(x.Call, x.p.keeper); err != nil {
		return err
	}
	if len(x.Charges) > 0 && !x.p.tasks.PutsOffCharge(x.Call) {
		if err := x.p.gate.Charge(x.HTTP.Context(), x.Call); err != nil {
			return err
		}
	}
	return x.forward()
}

// classify finds out what is asked, once the body is there.
func classify(arrival inbound.Arrival) error {
	if arrival.HTTP.Method == wire.MethodPost {
		if err := arrival.Classify(); err != nil {
			return err
		}
	}
	if err := arrival.FindSession(); err != nil {
		return err
	}
	return arrival.FindAffinity()
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
	if err := checkMethod(x.Call); err != nil {
		return err
	}
	if err := checkBody(x.Call); err != nil {
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

func checkMethod(c *inbound.Call) error {
	if !slices.Contains(c.Methods(), c.HTTP.Method) {
		return fault.Method
	}
	return nil
}

// checkBody refuses a body that nobody reads: a server that overlooks it takes it for the next request on its connection, which may be
// another caller's.
func checkBody(c *inbound.Call) error {
	if c.HTTP.Method != wire.MethodPost && c.HTTP.ContentLength != 0 {
		return fault.BodyBesidePost
	}
	return nil
}
