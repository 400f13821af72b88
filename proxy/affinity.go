package proxy

import (
	"context"
	"errors"
	"slices"
	"strings"

	"berth/internal/mcp"
	"berth/proxy/inbound"
	"berth/routing"
	"berth/sticky"
)

// mayBeHandedOut reports whether answers may hand out the value that key names: those that
// headers of parameters carry.
func mayBeHandedOut(key sticky.Key) bool {
	return strings.HasPrefix(key.ID, strings.ToLower(mcp.HeaderParamPrefix))
}

// keptTogether reports whether the owner is the request's for the sake of a value that it
// carries.
func (x *request) keptTogether() bool {
	return x.decision.Owner != nil && x.decision.Key.Kind == sticky.Affinity
}

// leaveOwner makes unbound work of a request whose owner is lost: another instance says in
// its server's own words that it does not know the handle, which a model can act on.
func (x *request) leaveOwner() {
	x.left = x.decision.Owner.Name
	x.decision.Owner, x.decision.Source = nil, routing.SourcePicked
}

// learnAffinity binds what an answer tells of values that keep calls together: those that
// the call carried, and those that the answer hands out. A failure tells nothing, for an
// instance that does not know a handle fails.
func (x *request) learnAffinity(u *routing.Upstream, c *mcp.Call, a *mcp.Answer) {
	if len(x.Endpoint.Affinity) == 0 || c == nil || x.Session != "" || !a.HasResult || a.ToolFailed {
		return
	}
	ctx, cancel := x.Recording()
	defer cancel()
	for _, carried := range x.decision.Affinities {
		x.holdTogether(ctx, u, carried)
	}
	for _, key := range x.handedOut(c, a) {
		if standing, _, err := x.Endpoint.Router.Bindings.Lookup(ctx, key); errors.Is(err, sticky.ErrUnknown) || err == nil && !standing.Fixed {
			_ = x.Endpoint.Router.Bindings.Bind(ctx, key, sticky.Binding{Upstream: u.Name, Fixed: true}, 0) // the first that was handed out stands
		}
	}
}

// holdTogether binds a value that the call carried to u, which served it.
func (x *request) holdTogether(ctx context.Context, u *routing.Upstream, carried routing.Affinity) {
	bindings, next := x.Endpoint.Router.Bindings, sticky.Binding{Upstream: u.Name, Fixed: !mayBeHandedOut(carried.Key)}
	switch owner := carried.Binding.Upstream; {
	case owner == "":
		_ = bindings.Bind(ctx, carried.Key, next, 0) // whoever was first meanwhile stands
	case owner == u.Name:
		bindings.Touch(carried.Key, carried.Binding)
	case owner == x.left, x.Pool().Find(owner) == nil:
		_ = bindings.RebindAffinity(ctx, carried.Key, owner, next)
	}
}

// handedOut are the keys of the values in a tool's structured content that later calls
// will carry in a header of the same name.
func (x *request) handedOut(c *mcp.Call, a *mcp.Answer) (keys []sticky.Key) {
	if !slices.Contains([]string{mcp.MethodCallTool, mcp.MethodGetTask, mcp.MethodTaskResult}, c.Method) {
		return nil
	}
	for _, header := range x.Endpoint.Affinity {
		parameter, mirrors := strings.CutPrefix(header, mcp.HeaderParamPrefix)
		if !mirrors {
			continue
		}
		value, ok := mcp.StructuredValue(a.Result, parameter)
		id := inbound.AffinityID(header, value)
		if ok && value != "" && !slices.Contains(x.Affinity, id) {
			keys = append(keys, x.Endpoint.Router.AffinityKey(x.Principal, id))
		}
	}
	return keys
}
