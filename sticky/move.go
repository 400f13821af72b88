package sticky

import (
	"context"
	"errors"
	"time"

	"berth/internal/storage"
)

// Move gives a provisional binding that this process made for the upstream from to
// another one, because from got nothing of the request. It returns nil or ErrOwned: what
// stands by then is another's, or is provisional no more, and counts.
func (b *Bindings) Move(ctx context.Context, key Key, from string, binding Binding) error {
	e := b.entry(key, binding, 0)
	if b.pending.move(e.name, from, &e) {
		return nil
	}
	err := b.replace(ctx, e.name, from, e.binding, time.Until(e.binding.Expires))
	if err != nil && !errors.Is(err, ErrOwned) {
		_, err = b.bindLocally(e, err)
	}
	return err
}

// Release gives a provisional binding up that this process made for the upstream from,
// because nobody got anything of the request. One that stands for want of a store costs
// the next use of its id a detour: that goes to from.
func (b *Bindings) Release(ctx context.Context, key Key, from string) {
	name := key.digest()
	if b.pending.move(name, from, nil) {
		return
	}
	// An engine deletes without a condition; the shortest life is as good.
	err := b.replace(ctx, name, from, Binding{Upstream: from, Dialect: draft}, time.Nanosecond)
	if err != nil && !errors.Is(err, ErrOwned) {
		b.log.Debug("a provisional binding could not be released", "kind", string(key.Kind), "error", err)
	}
}

// replace swaps the provisional binding of the upstream from for another.
func (b *Bindings) replace(ctx context.Context, name, from string, next Binding, life time.Duration) error {
	record, err := b.store.Get(ctx, name)
	if errors.Is(err, storage.ErrNotFound) {
		return ErrOwned // given up, or lost: whoever binds it next is first
	}
	if err != nil {
		return err
	}
	standing, err := decode(record.Value)
	if err != nil || standing.Upstream != from || !standing.Provisional() {
		return ErrOwned
	}
	_, err = b.store.Swap(ctx, name, record.Version, next.encode(), life)
	if errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrNotFound) {
		return ErrOwned
	}
	return err
}
