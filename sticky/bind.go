package sticky

import (
	"context"
	"errors"
	"time"

	"berth/internal/storage"
)

// Bind makes binding.Upstream the owner of key. It returns nil once the binding
// is in the store or, with the store away, once this process will answer for it.
// If another upstream owns the key it returns ErrOwned and changes nothing, unless that
// owner's binding is of an id that its client made and yields: then binding stands.
// binding.Expires is set by Bind, from ttl for tasks (0: unlimited) within bounds.
func (b *Bindings) Bind(ctx context.Context, key Key, binding Binding, ttl time.Duration) error {
	outcome, err := b.bind(ctx, b.entry(key, binding, ttl))
	b.metrics.bound(ctx, key.Kind, outcome)
	return err
}

func (b *Bindings) bind(ctx context.Context, e entry) (outcome string, err error) {
	if have, ok := b.pending.get(e.key); ok && !have.yieldsTo(e.binding) && have.Upstream != e.binding.Upstream {
		return outcomeCollision, ErrOwned
	}
	standing, written, err := b.establish(ctx, e)
	if err != nil {
		return b.bindLocally(e, err)
	}
	if !written && e.taken(standing) {
		return outcomeCollision, ErrOwned
	}
	b.pending.remove(e.key)
	b.near.add(e)
	return outcomeStored, nil
}

// establish writes e where nothing stands, or what yields to it. It returns the record
// that stands otherwise.
func (b *Bindings) establish(ctx context.Context, e entry) (standing storage.Record, written bool, err error) {
	name, value, life := e.key.digest(), e.binding.encode(), time.Until(e.binding.Expires)
	standing, written, err = b.store.PutIfAbsent(ctx, name, value, life)
	for range maxRevisions {
		if err != nil || written || !e.displaces(standing) {
			return standing, written, err
		}
		standing, err = b.store.Swap(ctx, name, standing.Version, value, life)
		switch {
		case err == nil:
			written = true
		case errors.Is(err, storage.ErrConflict):
			err = nil // the next round judges what stands by now
		case errors.Is(err, storage.ErrNotFound):
			standing, written, err = b.store.PutIfAbsent(ctx, name, value, life)
		}
	}
	return standing, written, err
}

// bindLocally keeps a binding that the store could not take, unless this process
// knows of another owner.
func (b *Bindings) bindLocally(e entry, cause error) (outcome string, err error) {
	if have, ok := b.near.get(e.key); ok && !have.yieldsTo(e.binding) && have.Upstream != e.binding.Upstream {
		return outcomeCollision, ErrOwned
	}
	if !b.pending.add(e) {
		return outcomeCollision, ErrOwned
	}
	b.near.add(e)
	b.log.Debug("bound locally, the store is away", "kind", string(e.key.Kind), "error", cause)
	return outcomeLocal, nil
}

// entry completes a binding that is made now. A claim says itself whose it is.
func (b *Bindings) entry(key Key, binding Binding, ttl time.Duration) entry {
	if key.Kind != Claim {
		binding.Principal = key.Principal
	}
	life := b.life(key.Kind, ttl)
	if binding.Provisional() {
		life = min(life, ProvisionalLife)
	}
	binding.Expires = time.Now().Add(life)
	return entry{key, binding}
}

// life is how long a binding is kept that is made or told of now. A claim lives as a
// task's binding does.
func (b *Bindings) life(kind Kind, ttl time.Duration) time.Duration {
	switch {
	case kind == Hint:
		return hintLife
	case kind == Session, kind == Affinity:
		return b.options.SessionIdle
	case ttl <= 0 || ttl > b.options.MaxTTL-keptAfter:
		return b.options.MaxTTL
	}
	return ttl + keptAfter
}

// Unbind forgets key: its owner said that it does not know it any more. Errors
// are not reported: a binding that stays is found out in the same way again.
func (b *Bindings) Unbind(ctx context.Context, key Key) {
	b.pending.remove(key)
	b.near.remove(key)
	if err := b.store.Delete(ctx, key.digest()); err != nil {
		b.log.Debug("a binding could not be dropped", "kind", string(key.Kind), "error", err)
	}
}

// Prefer remembers that upstream issued the cursor or requestState that key
// names. It is a preference: the last one counts, and a store that is away does
// not matter beyond this process.
func (b *Bindings) Prefer(ctx context.Context, key Key, upstream string) {
	b.put(ctx, b.entry(key, Binding{Upstream: upstream}, 0))
}

// Amend replaces what is kept of a binding that this process has just made. It
// must not change the owner.
func (b *Bindings) Amend(ctx context.Context, key Key, binding Binding) {
	b.put(ctx, b.entry(key, binding, 0))
}

// put writes e over what stands. What is pending is written with it later.
func (b *Bindings) put(ctx context.Context, e entry) {
	b.near.add(e)
	if b.pending.swap(e.key, nil, &e) {
		return
	}
	if err := b.store.Put(ctx, e.key.digest(), e.binding.encode(), time.Until(e.binding.Expires)); err != nil {
		b.log.Debug("a binding could not be written", "kind", string(e.key.Kind), "error", err)
	}
}
