package sticky

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"berth/sticky/binding"
)

// rebinder gives what is bound to another upstream, or up, by compare-and-swap.
type rebinder struct {
	terms   terms
	local   *local
	records *records
	rolls   *rolls
	log     *slog.Logger
}

func (r *rebinder) provisional(ctx context.Context, key Key, from string, binding Binding) error {
	return r.rebind(ctx, r.terms.entry(key, binding, 0), from, provisionalOf(from, binding.Maker))
}

func (r *rebinder) affinity(ctx context.Context, key Key, from string, binding Binding) error {
	e := r.terms.entry(key, binding, 0)
	r.local.near.Remove(e.key)
	return r.rebind(ctx, e, from, func(have Binding) bool { return have.Upstream == from })
}

func (r *rebinder) release(ctx context.Context, key Key, from, maker string) {
	may := provisionalOf(from, maker)
	r.local.near.Remove(key)
	if r.local.pending.swap(key, may, nil) {
		return
	}
	err := r.replace(ctx, key, shortest, Binding{Upstream: from, Dialect: binding.Draft}, may)
	if err != nil && !errors.Is(err, ErrOwned) {
		r.log.Debug("a provisional binding could not be released", "kind", string(key.Kind), "error", err)
	}
	if err == nil {
		r.rolls.remove(ctx, key, from)
	}
}

func provisionalOf(upstream, maker string) func(Binding) bool {
	return func(have Binding) bool {
		return have.Upstream == upstream && have.Maker == maker && have.Provisional()
	}
}

// rebind puts e in the place of what stands of the upstream from, if may allows it.
func (r *rebinder) rebind(ctx context.Context, e entry, from string, may func(Binding) bool) error {
	if r.local.rebind(e, may) {
		return nil
	}
	err := r.replace(ctx, e.key, time.Until(e.binding.Expires), e.binding, may)
	switch {
	case errors.Is(err, ErrOwned):
		return err
	case err != nil:
		_, err = r.local.bind(e, err)
		return err
	}
	r.local.add(&e)
	r.rolls.add(ctx, e)
	if from != e.binding.Upstream {
		r.rolls.remove(ctx, e.key, from)
	}
	return nil
}

// replace puts next in the place of what stands in the store, if may allows it; ErrOwned if
// not, or if nothing stands: whoever binds the id next is first.
func (r *rebinder) replace(ctx context.Context, key Key, life time.Duration, next Binding, may func(Binding) bool) error {
	err := r.records.exchange(ctx, key, life, func(standing Binding) (Binding, error) {
		if !may(standing) {
			return Binding{}, ErrOwned
		}
		return next, nil
	})
	if errors.Is(err, ErrUnknown) {
		return ErrOwned
	}
	return err
}
