package proxy

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/lingering"
)

// serveAndReport serves the request, come what may. held: it is, to its end, by others.
func (x *request) serveAndReport() (held bool) {
	setDeadlines(x.out.Client, x.HTTP, x.Began.Add(x.Settings.Limits.BodyRead))
	defer func() {
		if !held {
			x.finish(recover())
		}
	}()
	err := x.serve()
	if x.standing != nil {
		if x.standAside() {
			return true
		}
		err = x.standing.relay() // err was nil
	}
	if err != nil {
		x.fail(err)
	}
	return false
}

// setDeadlines prepares a connection for a request, whose body is to be here by then. Errors only
// mean that it has no deadlines.
func setDeadlines(client wire.Client, r *wire.Request, body time.Time) {
	// The deadline of the connection's last answer must not hold for what the connection
	// itself writes before this one.
	if r.Header.Has("Expect") {
		_ = client.SetWriteDeadline(time.Time{})
	}
	if r.ContentLength != 0 {
		// It holds for a body that is refused unread as well: what is left of that is read on. Whoever
		// carries the request lifts it at the body's end.
		_ = client.SetReadDeadline(body)
	}
}

// fail answers the client with what the ladder says of err. After headers are out
// an answer can only be broken off, unless they are an early stream's.
func (x *request) fail(err error) {
	switch {
	case x.Ctx == nil:
	case lingering.IsCancelled(x.Ctx):
		err = fault.Cancelled
	case errors.Is(err, fault.BadUpstream) && isLeft(x):
		err = fault.ErrClientGone
	}
	x.p.gate.Note(err)
	x.rec.Err = err
	answer := x.Word(err)
	if answer == nil || !x.out.MayAnswer() {
		x.aborted = true
		return
	}
	x.rec.Code = answer.Code
	x.out.Refuse(x.Call, answer, x.p.gate.IsShort())
}

// isLeft reports whether the upstream's side has ended because the client left: it is berth then that has let go of the answer.
func isLeft(x *request) bool { return x.Ctx.Err() != nil && x.HTTP.Context().Err() != nil }

// finish ends the request, of which caught is the panic, nil for none: it writes the access record,
// the metrics and the span. What is still to be written gets its deadline.
func (x *request) finish(caught any) {
	if caught != nil {
		// The value may hold anything a client sent; its type and the stack do not.
		x.p.log.Error("panic while serving a request", "type", fmt.Sprintf("%T", caught), "stack", string(debug.Stack()))
		x.fail(fault.Internal)
		x.Outlived = true // by whatever was on its way
	}
	x.seat.Leave()
	now := x.Now()
	x.out.LimitWriteFrom(now)
	r, out := &x.rec, x.out
	r.Source, r.MovedFrom, r.Session = x.Decision.Source, x.MovedFrom, x.recorder.NewSession
	given, lost := out.Given()
	r.Status, r.Meant, r.Begun, r.Written = given.Status, out.Meant(), given.Begun, given.Written
	if r.Err == nil {
		r.Err = out.Failed
	}
	r.Unheard = lost && r.Err == nil
	r.Cutting = r.Err != nil && isClosed(x.p.end.cutting)
	r.Close(now)
}
