package proxy

import (
	"bytes"
	"cmp"
	"errors"
	"strconv"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/failover"
	"berth/routing"
)

// errRouted has dispatch send the request to where it was routed.
var errRouted = errors.New("proxy: the request was routed")

// asCase is the request as fail-over sees it.
func (x *request) asCase() failover.Case {
	return failover.Case{Way: x.way(), At: &x.decision, Moved: x.movedFrom != ""}
}

// act does what fail-over says becomes of a request that does not stay.
func (x *request) act(v failover.Verdict) error {
	switch v.Step {
	case failover.Drop:
		x.out.Empty(wire.StatusAccepted)
		return nil
	case failover.Refuse:
		return v.Err
	}
	x.movedFrom = x.decision.Binding.Upstream
	if v.Step == failover.Reroute {
		return x.routed()
	}
	x.decision.Owner, x.decision.Binding, x.decision.Alias = v.To, v.Binding, v.Binding.Alias
	return cmp.Or(x.openAlias(), errRouted)
}

// leaveDenied acts on the verdict on a request whose session u denies. A task is out of reach
// then, which is not the same as gone.
func (x *request) leaveDenied(u *routing.Upstream, response *wire.Response, v failover.Verdict) error {
	x.rec.EndExchange(strconv.Itoa(response.Status))
	_ = response.Body.Close() // nothing in it is needed
	x.change.Done()           // it changed nothing
	if v.Step == failover.Refuse && x.AboutTask && serveStale(&x.decision, x.out, x.p.stale.IfError(x.Call, 0)) {
		return nil
	}
	return x.act(v)
}

// openAlias reads the alias that the decision bears. One that cannot be opened is no
// way to the session.
func (x *request) openAlias() error {
	if x.decision.Alias == "" {
		x.Alias = ""
		return nil
	}
	alias, err := x.way().AliasIn(x.decision.Alias)
	if err != nil {
		x.p.log.Warn("the alias of a session cannot be read", "pool", x.PoolName(), "error", err)
		return mcp.ErrUnknownSession
	}
	x.Alias = alias
	return nil
}

// untag takes the tag off a client's answer in a session that has moved. known is false if
// there is none: it answers an upstream that does not hold the session any more. The present
// one may have asked something else under the same id.
func (x *request) untag() (known bool) {
	if x.Alias == "" || !x.IsResponse() {
		return true
	}
	body, known := mcp.UntagResponse(bytes.TrimSpace(x.Body), x.way().Tag())
	if known {
		x.Call = x.WithBody(body)
	}
	return known
}
