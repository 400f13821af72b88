package course

import (
	"context"

	"berth/proxy/failover"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/sticky"
)

// Routed is a request and what was decided of where it goes. It lives in one goroutine.
type Routed struct {
	*inbound.Call
	Guide    *Guide
	Decision routing.Decision
	Ctx      context.Context // of the upstream's side

	Alias     string // what the session is called at the upstream; "": what the client calls it
	MovedFrom string // the upstream that the session was moved away from for this request

	Stays       bool // the session could not be moved away from an upstream that sessions are to leave
	LeavesLater bool // what keeps it there may pass

	Outlived bool // somebody may have something of the request for longer than it lasts

	stood   standpoint // what the decision was when the router was asked last
	decided bool       // the router was asked
}

// Keep has the call be one that may be kept when the request is over.
func (r *Routed) Keep() {
	if !r.Outlived {
		r.Call, r.Outlived = r.Call.Kept(), true
	}
}

// Way is how requests go to upstreams for this one, as it stands now.
func (r *Routed) Way() outbound.Way { return r.wayFrom(standpointOf(&r.Decision)) }

func (r *Routed) wayFrom(at standpoint) outbound.Way {
	return outbound.Way{Call: r.Call, InSession: at.inSession, Owner: at.owner, Alias: r.Alias, Left: at.left, Report: r.Guide.Report, Log: r.Guide.Log}
}

// Case is the request as fail-over sees it.
func (r *Routed) Case() failover.Case {
	return failover.Case{Way: r.Way(), At: &r.Decision, Moved: r.MovedFrom != ""}
}

// standpoint is what a decision means to those who are asked on the way.
type standpoint struct {
	owner     *routing.Upstream
	inSession bool
	left      bool
}

func standpointOf(at *routing.Decision) standpoint {
	inSession := at.Key.Kind == sticky.Session
	return standpoint{at.Owner, inSession, inSession && at.Owner != nil && at.Owner.Name != at.Binding.Upstream}
}

// HasLeft reports whether a request goes to an upstream that its session has left, and that goes on with what it began there.
func HasLeft(at *routing.Decision) bool { return standpointOf(at).left }
