package sticky

import (
	"context"
	"errors"
	"time"
)

// RebindProvisional gives a provisional binding that binding.Maker made for the upstream
// from to another one, because from got nothing of the request, or prolongs it where both
// are one. It returns nil or ErrOwned: what stands by then is another's, or is provisional
// no more, and counts.
func (b *Bindings) RebindProvisional(ctx context.Context, key Key, from string, binding Binding) error {
	return b.rebind(ctx, b.entry(key, binding, 0), from, provisionalOf(from, binding.Maker))
}

// RebindAffinity gives a value of an affinity that the upstream from holds to another
// one, because from is gone. It returns nil or ErrOwned: somebody was first. Other
// processes may follow the old binding until they touch it.
func (b *Bindings) RebindAffinity(ctx context.Context, key Key, from string, binding Binding) error {
	e := b.entry(key, binding, 0)
	b.near.remove(e.key)
	return b.rebind(ctx, e, from, func(have Binding) bool { return have.Upstream == from })
}

// ReleaseProvisional gives a provisional binding up that maker made for the upstream from,
// because nobody got anything of the request, or it was refused. One that stands for want
// of a store expires by itself.
func (b *Bindings) ReleaseProvisional(ctx context.Context, key Key, from, maker string) {
	may := provisionalOf(from, maker)
	b.near.remove(key)
	if b.pending.swap(key, may, nil) {
		return
	}
	// An engine deletes without a condition; the shortest life is as good.
	err := b.replace(ctx, key, time.Nanosecond, Binding{Upstream: from, Dialect: draft}, may)
	if err != nil && !errors.Is(err, ErrOwned) {
		b.log.Debug("a provisional binding could not be released", "kind", string(key.Kind), "error", err)
	}
	if err == nil {
		b.unlist(ctx, key, from)
	}
}

func provisionalOf(upstream, maker string) func(Binding) bool {
	return func(have Binding) bool {
		return have.Upstream == upstream && have.Maker == maker && have.Provisional()
	}
}

// rebind puts e in the place of what stands of the upstream from, if may allows it.
func (b *Bindings) rebind(ctx context.Context, e entry, from string, may func(Binding) bool) error {
	if b.pending.swap(e.key, may, &e) {
		b.near.add(e)
		return nil
	}
	err := b.replace(ctx, e.key, time.Until(e.binding.Expires), e.binding, may)
	switch {
	case errors.Is(err, ErrOwned):
		return err
	case err != nil:
		_, err = b.bindLocally(e, err)
		return err
	}
	b.near.add(e)
	b.listed(ctx, e)
	if from != e.binding.Upstream {
		b.unlist(ctx, e.key, from)
	}
	return nil
}

// replace puts next in the place of what stands in the store, if may allows it; ErrOwned if
// not, or if nothing stands: whoever binds the id next is first.
func (b *Bindings) replace(ctx context.Context, key Key, life time.Duration, next Binding, may func(Binding) bool) error {
	err := b.exchange(ctx, key, life, next, func(standing Binding) error {
		if !may(standing) {
			return ErrOwned
		}
		return nil
	})
	if errors.Is(err, ErrUnknown) {
		return ErrOwned
	}
	return err
}
