package routing

import (
	"context"
	"errors"
	"time"

	"berth/sticky"
)

// Bind makes binding.Upstream the owner of key, as sticky.Bindings.Bind does.
// Where principals may ask the fleet for what the map does not know, the id is
// claimed besides: what the fleet knows is the caller's only if it is not known to
// be somebody else's.
func (r *Router) Bind(ctx context.Context, key sticky.Key, binding sticky.Binding, ttl time.Duration) error {
	if r.Principals && r.Recover {
		claim := sticky.Binding{Upstream: binding.Upstream, Principal: key.Principal}
		// A claim that stands already is as good; it is whoever's came first.
		_ = r.Bindings.Bind(ctx, key.Claim(), claim, ttl)
	}
	return r.Bindings.Bind(ctx, key, binding, ttl)
}

// isForeign reports whether the id is claimed for another principal. If the store
// cannot tell, the error says so: the fleet must not be believed then.
func (r *Router) isForeign(ctx context.Context, key sticky.Key) (bool, error) {
	if !r.Principals {
		return false, nil
	}
	claim, _, err := r.Bindings.Lookup(ctx, key.Claim())
	if errors.Is(err, sticky.ErrUnknown) {
		return false, nil
	}
	if err != nil {
		return false, denied(key.Kind, err)
	}
	return claim.Principal != key.Principal, nil
}
