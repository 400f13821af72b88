package routing

import (
	"context"
	"errors"
	"time"

	"berth/sticky"
)

// claimOutlives is how much longer a claim is kept than the binding that it guards,
// so that there is no moment at which only the claim has expired.
const claimOutlives = 5 * time.Minute

// claims reports whether ids of this kind are claimed: those of tasks, since callers may
// name the ids of tasks to come, and all where the fleet may be asked for what is one
// principal's and not another's.
func (r *Router) claims(kind sticky.Kind) bool {
	return r.Principals && (r.Recover || kind == sticky.Task)
}

// Bind makes binding.Upstream the owner of key, as sticky.Bindings.Bind does.
// Where principals could come by what is another's without the map, the id is claimed
// besides: what a caller makes up, and what the fleet knows, is the caller's only if it
// is not known to be somebody else's. A claim yields as the binding that it guards does.
func (r *Router) Bind(ctx context.Context, key sticky.Key, binding sticky.Binding, ttl time.Duration) error {
	if !r.claims(key.Kind) {
		return r.Bindings.Bind(ctx, key, binding, ttl)
	}
	beside := sticky.Beside{}
	addClaim(&beside, key, binding, ttl)
	return r.Bindings.BindBeside(ctx, key, binding, ttl, beside)
}

// BindBeside is Bind with what is written beside the binding, where it is not the claim.
func (r *Router) BindBeside(ctx context.Context, key sticky.Key, binding sticky.Binding, ttl time.Duration, beside sticky.Beside) error {
	if r.claims(key.Kind) {
		addClaim(&beside, key, binding, ttl)
	}
	return r.Bindings.BindBeside(ctx, key, binding, ttl, beside)
}

// addClaim has the claim that guards binding be written beside it.
func addClaim(beside *sticky.Beside, key sticky.Key, binding sticky.Binding, ttl time.Duration) {
	beside.Claim, beside.ClaimTTL = claimOf(key, binding), ttl
	if ttl > 0 {
		beside.ClaimTTL += claimOutlives
	}
}

// guarded does to the claim to an id, where ids of its kind are claimed, and then to its
// binding. A claim that stands already is as good; it is whoever's came first.
func (r *Router) guarded(key sticky.Key, binding sticky.Binding, do func(sticky.Key, sticky.Binding) error) error {
	if r.claims(key.Kind) {
		_ = do(key.Claim(), claimOf(key, binding))
	}
	return do(key, binding)
}

// claimOf is the claim that guards binding.
func claimOf(key sticky.Key, binding sticky.Binding) sticky.Binding {
	claim := sticky.Binding{Upstream: binding.Upstream, Principal: key.Principal, Maker: binding.Maker, Asked: binding.Asked}
	if binding.ClientMade() {
		claim.Dialect, claim.Status = binding.Dialect, binding.Status
	}
	return claim
}

// Observe notes a task's state as its owner just told it, as sticky.Bindings.Observe
// does. A claim lives as long as the binding that it guards.
func (r *Router) Observe(key sticky.Key, current *sticky.Binding, seen sticky.Seen) {
	if next := r.Bindings.Observe(key, current, seen); next != nil {
		r.extendClaim(key, *next)
	}
}

// touch notes that a session is in use.
func (r *Router) touch(key sticky.Key, current sticky.Binding) {
	if next, changed := r.Bindings.Touch(key, current); changed {
		r.extendClaim(key, next)
	}
}

func (r *Router) extendClaim(key sticky.Key, binding sticky.Binding) {
	if r.claims(key.Kind) {
		claim := claimOf(key, binding)
		claim.Expires = binding.Expires.Add(claimOutlives)
		r.Bindings.Keep(key.Claim(), claim)
	}
}

// isForeign reports whether the id is claimed for another principal. If the store
// cannot tell, the error says so: the fleet must not be believed then.
func (r *Router) isForeign(ctx context.Context, t *Trail, key sticky.Key) (bool, error) {
	if !r.claims(key.Kind) {
		return false, nil
	}
	claimed := key.Claim()
	var claim sticky.Binding
	_, err := r.binding(ctx, t, &claimed, &claim)
	if errors.Is(err, sticky.ErrUnknown) {
		return false, nil
	}
	if err != nil {
		return false, denied(key.Kind, err)
	}
	return claim.Principal != key.Principal, nil
}
