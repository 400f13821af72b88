package proxy

import (
	"context"
	"errors"
	"strconv"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/sticky"
)

// lacksSession reports whether u, which answered 404 or 400, does not hold the session.
// That is asked for: a server may mean something else by it, and have done its work.
func (x *request) lacksSession(u *routing.Upstream, response *wire.Response) bool {
	return outbound.DeniesSession(response.Status) && x.mayReopen() && x.movedFrom == "" && x.isDenied(u)
}

// isDenied asks u for the session, and reports whether it denies that.
func (x *request) isDenied(u *routing.Upstream) bool {
	ctx, cancel := context.WithTimeout(x.ctx, outbound.ConfirmTime)
	defer cancel()
	out := x.way().Post(u, x.way().OwnBody(mcp.MethodPing, ""))
	out.Header.Set(mcp.HeaderSession, x.way().SessionAt(ctx, u))
	// A version that the client makes up is refused with 400 as well.
	out.Header.Set(mcp.HeaderVersion, x.Negotiated(&x.decision))
	answer, err := x.Endpoint.Client.Send(ctx, out, outbound.ConfirmTime)
	if err != nil {
		return false
	}
	_ = answer.Body.Close() // the status says it
	return outbound.DeniesSession(answer.Status)
}

// sessionDenied serves a request whose upstream u does not hold the session any more:
// by moving that; or with what u said, if that cannot be. A task is out of reach then,
// which is not the same as gone.
func (x *request) sessionDenied(u *routing.Upstream, response *wire.Response) error {
	outdated := x.isOutdated()
	var binding sticky.Binding
	var err error
	if !outdated {
		binding, err = x.relocate(u, true)
	}
	if errors.Is(err, errNotMoved) && !x.AboutTask() && !x.IsResponse() {
		return x.relay(u, response)
	}
	_ = response.Body.Close() // nothing in it is needed
	x.endChange()             // it changed nothing
	outbound.To(x.Endpoint).NoteAnswer(u, response)
	x.endExchange(strconv.Itoa(response.Status))
	switch {
	case outdated:
		return x.reroute()
	case x.IsResponse():
		return x.dropStray()
	case x.AboutTask() && x.serveLastSeen(0):
		return nil
	case x.AboutTask():
		return fault.OwnerSilent
	case err != nil:
		return err
	}
	return x.follow(binding)
}
