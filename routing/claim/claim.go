// Package claim keeps an id from being two principals'. Who owns it is in the map by principal; the claim beside that says
// whose it is among them all.
package claim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/internal/storage"
	"berth/routing/trail"
	"berth/sticky"
)

// claimOutlives is how much longer a claim is kept than the binding that it guards,
// so that there is no moment at which only the claim has expired.
const claimOutlives = 5 * time.Minute

// Guard binds ids, and claims them where the map alone does not say whose they are.
type Guard struct {
	Bindings   *sticky.Bindings // of all pools
	Principals bool             // tasks and sessions are bound to principals
	Recover    bool             // with principals: the fleet is asked for ids that the map does not know
}

// claims reports whether ids of this kind are claimed: those of tasks, since callers may
// name the ids of tasks to come, and all where the fleet may be asked for what is one
// principal's and not another's.
func (g *Guard) claims(kind sticky.Kind) bool {
	return g.Principals && (g.Recover || kind == sticky.Task)
}

// Bind makes binding.Upstream the owner of key, as sticky.Bindings.Bind does.
// Where principals could come by what is another's without the map, the id is claimed
// besides: what a caller makes up, and what the fleet knows, is the caller's only if it
// is not known to be somebody else's. A claim yields as the binding that it guards does.
func (g *Guard) Bind(ctx context.Context, key sticky.Key, binding sticky.Binding, ttl time.Duration) error {
	if !g.claims(key.Kind) {
		return g.Bindings.Bind(ctx, key, binding, ttl)
	}
	beside := sticky.Beside{}
	addClaim(&beside, key, binding, ttl)
	return g.Bindings.BindBeside(ctx, key, binding, ttl, beside)
}

// BindBeside is Bind with what is written beside the binding, where it is not the claim.
func (g *Guard) BindBeside(ctx context.Context, key sticky.Key, binding sticky.Binding, ttl time.Duration, beside sticky.Beside) error {
	if g.claims(key.Kind) {
		addClaim(&beside, key, binding, ttl)
	}
	return g.Bindings.BindBeside(ctx, key, binding, ttl, beside)
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
func (g *Guard) guarded(key sticky.Key, binding sticky.Binding, do func(sticky.Key, sticky.Binding) error) error {
	if g.claims(key.Kind) {
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
func (g *Guard) Observe(key sticky.Key, current *sticky.Binding, seen sticky.Seen) {
	if next := g.Bindings.Observe(key, current, seen); next != nil {
		g.extendClaim(key, *next)
	}
}

// Touch notes that a session is in use.
func (g *Guard) Touch(key sticky.Key, current sticky.Binding) {
	if next, changed := g.Bindings.Touch(key, current); changed {
		g.extendClaim(key, next)
	}
}

func (g *Guard) extendClaim(key sticky.Key, binding sticky.Binding) {
	if g.claims(key.Kind) {
		claim := claimOf(key, binding)
		claim.Expires = binding.Expires.Add(claimOutlives)
		g.Bindings.Keep(key.Claim(), claim)
	}
}

// IsForeign reports whether the id is claimed for another principal. If the store
// cannot tell, the error says so: the fleet must not be believed then.
func (g *Guard) IsForeign(ctx context.Context, t *trail.Trail, key sticky.Key) (bool, error) {
	if !g.claims(key.Kind) {
		return false, nil
	}
	claimed := key.Claim()
	var claim sticky.Binding
	_, err := t.Look(ctx, g.Bindings, &claimed, &claim)
	if errors.Is(err, sticky.ErrUnknown) {
		return false, nil
	}
	if err != nil {
		return false, Unavailable(err)
	}
	return claim.Principal != key.Principal, nil
}

// Unavailable words that nobody can say whose an id is: it wraps storage.ErrUnavailable.
func Unavailable(err error) error {
	if errors.Is(err, storage.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
}
