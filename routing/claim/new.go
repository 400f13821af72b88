package claim

import (
	"context"

	"berth/sticky"
)

// KeepNew prolongs what was bound for an id that the client made, while the request is under way. What is provisional
// no more, or another's by now, stays as it is.
func (g *Guard) KeepNew(ctx context.Context, key sticky.Key, binding sticky.Binding) {
	_ = g.RebindNew(ctx, key, binding.Upstream, binding)
}

// RebindNew has binding take the place of one that is provisional still and names from; its claim likewise.
func (g *Guard) RebindNew(ctx context.Context, key sticky.Key, from string, binding sticky.Binding) error {
	return g.guarded(key, binding, func(key sticky.Key, binding sticky.Binding) error {
		return g.Bindings.RebindProvisional(ctx, key, from, binding)
	})
}

// ReleaseNew gives up what was bound to binding.Upstream for binding.Maker, and the
// claim to it, unless the owner has told of the task.
func (g *Guard) ReleaseNew(ctx context.Context, key sticky.Key, binding sticky.Binding) {
	g.Bindings.ReleaseProvisional(ctx, key, binding.Upstream, binding.Maker)
	if g.claims(key.Kind) {
		g.Bindings.ReleaseProvisional(ctx, key.Claim(), binding.Upstream, binding.Maker)
	}
}
