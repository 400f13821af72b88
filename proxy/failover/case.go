package failover

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/sticky"
)

// Case is a request as fail-over sees it.
type Case struct {
	outbound.Way

	At    *routing.Decision // where it was routed to
	Moved bool              // its session was moved for it already: once is enough

	leaves bool // its upstream serves what it was asked before; see Mover.Leaving
}

// MayReopen reports whether the request is in a session that could be opened anew.
func (c Case) MayReopen() bool {
	return c.Endpoint.Reinit && c.InSession && !c.At.Binding.Kept.IsZero()
}

// Unread reports whether nobody has read what is kept of the request's session: the store could not say, and the fleet said where it is.
func (c Case) Unread() bool {
	return c.Endpoint.Reinit && c.InSession && c.At.Binding.Asked && c.At.Binding.Kept.IsZero()
}

// ReadKept reads for how long the session of an Unread request is kept; what the store cannot say stays unread.
func (c Case) ReadKept(ctx context.Context) error {
	standing, err := c.Endpoint.Router.Bindings.Reload(ctx, c.At.Key)
	if err == nil {
		c.At.Binding.Kept, c.At.Binding.Asked = standing.Kept, standing.Asked
	}
	return err
}

// read reads what is kept of the session of an Unread request, before MayReopen is to judge it.
func (c Case) read() {
	if c.Unread() {
		ctx, cancel := c.Recording()
		defer cancel()
		_ = c.ReadKept(ctx)
	}
}

// Pinned reports whether the request is about a task whose session could move:
// the task does not move with it, and the end of the session is not the task's.
func (c Case) Pinned() bool { return c.MayReopen() && c.AboutTask }

// movable reports whether the request may go to another upstream with its session.
// What is about a task, or answers the upstream that was lost, means that one; the end
// of a session needs no new one.
func (c Case) movable() bool {
	isTask := func(call mcp.Call) bool { return call.IsTask() }
	return c.MayReopen() && !c.Moved && c.HTTP.Method != wire.MethodDelete &&
		!c.HasResponse() && !slices.ContainsFunc(c.Message.Calls, isTask)
}

// standsElsewhere reports whether the session has another owner than the one that the
// request was routed to, and was not routed anew yet.
func (c Case) standsElsewhere(ctx context.Context) bool {
	if c.Moved {
		return false
	}
	standing, err := c.Endpoint.Router.Bindings.Reload(ctx, c.At.Key)
	return err == nil && !standing.SameOwner(c.At.Binding)
}

// name is what the session is called where the request was routed to.
func (c Case) name() string { return cmp.Or(c.Alias, c.Session) }

// Orphaned returns where a request was routed to that the router refused with unknown, if it
// is in a session whose upstream is not in the pool any more, and which nobody else holds.
func Orphaned(call *inbound.Call, unknown error) (at routing.Decision, ok bool) {
	if !call.Endpoint.Reinit || !errors.Is(unknown, routing.ErrUnknownSession) {
		return at, false
	}
	ctx, cancel := call.Recording()
	defer cancel()
	key := call.Endpoint.Router.SessionKey(call.Principal, call.Session)
	binding, err := call.Endpoint.Router.Bindings.Reload(ctx, key)
	if err != nil || call.Pool().Find(binding.Upstream) != nil {
		return at, false
	}
	return routing.Decision{Source: sticky.SourceStore, Key: key, Binding: binding, Alias: binding.Alias}, true
}
