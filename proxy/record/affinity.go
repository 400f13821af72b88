package record

import (
	"context"
	"errors"
	"slices"
	"strings"

	"berth/internal/mcp"
	"berth/internal/mcp/mirrored"
	"berth/proxy/inbound"
	"berth/routing"
	"berth/sticky"
)

// Affinities binds what an answer tells of values that keep calls together: those that
// the call carried, and those that the answer hands out. A failure tells nothing, for an
// instance that does not know a handle fails. left names the lost upstream that one of them was
// bound to, "" for none.
func (r *Recorder) Affinities(u *routing.Upstream, c *mcp.Call, a *mcp.Answer, left string) {
	if !r.Keeps || c == nil || !a.HasResult || a.ToolFailed {
		return
	}
	ctx, cancel := r.Recording()
	defer cancel()
	for _, carried := range r.At.Affinities {
		r.holdTogether(ctx, u, carried, left)
	}
	for _, key := range r.handedOut(c, a) {
		if standing, _, err := r.Endpoint.Router.Bindings.Lookup(ctx, key); errors.Is(err, sticky.ErrUnknown) || err == nil && !standing.Fixed {
			r.hold(ctx, key, sticky.Binding{Upstream: u.Name, Fixed: true}) // the first that was handed out stands
		}
	}
}

// holdTogether binds a value that the call carried to u, which served it.
func (r *Recorder) holdTogether(ctx context.Context, u *routing.Upstream, carried routing.Affinity, left string) {
	bindings, next := r.Endpoint.Router.Bindings, sticky.Binding{Upstream: u.Name, Fixed: !mayBeHandedOut(carried.Key)}
	switch owner := carried.Binding.Upstream; {
	case owner == "":
		r.hold(ctx, carried.Key, next) // whoever was first meanwhile stands
	case owner == u.Name:
		bindings.Touch(carried.Key, carried.Binding)
	case owner == left, r.Pool().Find(owner) == nil:
		_ = bindings.RebindAffinity(ctx, carried.Key, owner, next)
	}
}

// hold binds a value. One for which its caller has no room goes without: each call that carries it is led anew.
func (r *Recorder) hold(ctx context.Context, key sticky.Key, binding sticky.Binding) {
	_ = r.Endpoint.Router.Bindings.BindBeside(ctx, key, binding, 0, sticky.Beside{Caller: r.Caller})
}

// handedOut are the keys of the values in a tool's structured content that later calls
// will carry in a header of the same name.
func (r *Recorder) handedOut(c *mcp.Call, a *mcp.Answer) (keys []sticky.Key) {
	if !slices.Contains([]string{mcp.MethodCallTool, mcp.MethodGetTask, mcp.MethodTaskResult}, c.Method) {
		return nil
	}
	for _, header := range r.Endpoint.Affinity {
		parameter, mirrors := strings.CutPrefix(header, mcp.HeaderParamPrefix)
		if !mirrors {
			continue
		}
		value, ok := mirrored.StructuredValue(a.Result, parameter)
		id := inbound.AffinityID(header, value)
		if ok && value != "" && !slices.Contains(r.Affinity, id) {
			keys = append(keys, r.Endpoint.Router.AffinityKey(r.Principal, id))
		}
	}
	return keys
}

// mayBeHandedOut reports whether answers may hand out the value that key names: those that
// headers of parameters carry.
func mayBeHandedOut(key sticky.Key) bool {
	return strings.HasPrefix(key.ID, strings.ToLower(mcp.HeaderParamPrefix))
}
