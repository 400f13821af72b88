package proxy

import (
	"cmp"
	"strconv"

	"berth/internal/wire"
	"berth/proxy/failover"
	"berth/routing"
)

// act does what fail-over says becomes of a request that does not stay.
func (x *request) act(v failover.Verdict) error {
	switch v.Step {
	case failover.Drop:
		x.out.Empty(wire.StatusAccepted)
		return nil
	case failover.Refuse:
		return v.Err
	}
	x.MovedFrom = x.Decision.Binding.Upstream
	if v.Step == failover.Reroute {
		return x.route()
	}
	x.Decision.Owner, x.Decision.Binding, x.Decision.Alias = v.To, v.Binding, v.Binding.Alias
	return cmp.Or(x.OpenAlias(), errRouted)
}

// leaveDenied acts on the verdict on a request whose session u denies. A task is out of reach
// then, which is not the same as gone.
func (x *request) leaveDenied(u *routing.Upstream, response *wire.Response, v failover.Verdict) error {
	x.rec.EndExchange(strconv.Itoa(response.Status))
	_ = response.Body.Close() // nothing in it is needed
	x.change.Done()           // it changed nothing
	if v.Step == failover.Refuse && x.AboutTask && serveStale(&x.Decision, x.out, x.p.stale.IfError(x.Call, 0)) {
		return nil
	}
	return x.act(v)
}
