package failover

import (
	"errors"

	"berth/proxy/inbound"
	"berth/routing"
	"berth/sticky"
)

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
