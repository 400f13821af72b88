package failover

import (
	"context"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/outbound"
	"berth/routing"
)

// Denied judges a request that u answered with status, if that may deny the session. What
// is said of a task then is that it is out of reach, which is not the same as gone.
func (m *Mover) Denied(ctx context.Context, c Case, u *routing.Upstream, status int) Verdict {
	switch {
	case c.Moved || !outbound.DeniesSession(status):
		return Verdict{}
	case !c.MayReopen() && c.InSession && status == wire.StatusNotFound && c.standsElsewhere(ctx):
		return Verdict{Step: Reroute} // it has ended here, and another upstream gave out its id again
	case !c.MayReopen() || !m.denies(ctx, c, u):
		return Verdict{}
	}
	if v := m.Outdated(ctx, c); v.Step != Stay {
		return v
	}
	switch {
	case c.IsResponse():
		return Verdict{Step: Drop}
	case c.AboutTask:
		return refuse(fault.OwnerSilent)
	}
	return m.elsewhere(c, u, denied)
}

// Suspected judges a call that is to be held at u: if u lost the session in an earlier one,
// and says so still, the session is moved, or its client told to begin a new one.
func (m *Mover) Suspected(ctx context.Context, c Case, u *routing.Upstream) Verdict {
	v := m.Outdated(ctx, c)
	if v.Step != Stay || c.Moved || !c.Endpoint.Suspects().Has(u, c.name()) {
		return v
	}
	if !m.denies(ctx, c, u) {
		c.Endpoint.Suspects().Clear(u, c.name())
		return Verdict{}
	}
	v = m.elsewhere(c, u, denied)
	if v.Step == Stay {
		return refuse(routing.ErrUnknownSession)
	}
	return v
}

// denies asks u for the session, and reports whether it denies that: a server may mean
// something else by 404 or 400, and have done its work.
func (m *Mover) denies(ctx context.Context, c Case, u *routing.Upstream) bool {
	ctx, cancel := context.WithTimeout(ctx, outbound.ConfirmTime)
	defer cancel()
	out := c.Post(u, outbound.OwnPing())
	out.Header.Set(mcp.HeaderSession, c.name())
	// A version that the client makes up is refused with 400 as well.
	out.Header.Set(mcp.HeaderVersion, c.Negotiated(c.At))
	answer, err := outbound.To(c.Endpoint).Send(ctx, u, out, outbound.Terms{Wait: outbound.ConfirmTime})
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	return outbound.DeniesSession(answer.Status)
}
