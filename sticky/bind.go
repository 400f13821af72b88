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
	listing := b.list(e) // beside the binding: neither waits for the other
	standing, written, displaced, err := b.establish(ctx, e)
	if err != nil {
		return b.bindLocally(e, err)
	}
	if !written && e.taken(standing) {
		if listing != nil {
			<-listing.done
			b.unlist(ctx, e.key, e.binding.Upstream)
		}
		return outcomeCollision, ErrOwned
	}
	b.listed(ctx, e, listing)
	if displaced != e.binding.Upstream {
		b.unlist(ctx, e.key, displaced)
	}
	b.pending.remove(e.key)
	b.near.add(e)
	return outcomeStored, nil
}

// establish writes e where nothing stands, or what yields to it: then displaced is who owned it. It
// returns the record that stands otherwise.
func (b *Bindings) establish(ctx context.Context, e entry) (standing storage.Record, written bool, displaced string, err error) {
	name, value, life := e.key.digest(), e.binding.encode(), time.Until(e.binding.Expires)
	standing, written, err = b.store.PutIfAbsent(ctx, name, value, life)
	for range maxRevisions {
		if err != nil || written || !e.displaces(standing) {
			return standing, written, displaced, err
		}
		yields, _ := decode(standing.Value) // it was read a moment ago
		standing, err = b.store.Swap(ctx, name, standing.Version, value, life)
		switch {
		case err == nil:
			written, displaced = true, yields.Upstream
		case errors.Is(err, storage.ErrConflict):
			err = nil // the next round judges what stands by now
		case errors.Is(err, storage.ErrNotFound):
			standing, written, err = b.store.PutIfAbsent(ctx, name, value, life)
		}
	}
	return standing, written, displaced, err
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
	now := time.Now()
	binding.Expires = now.Add(life)
	if key.Kind.counted() {
		if key.Kind == Task && b.options.Hide != nil {
			binding.ID = b.options.Hide(key.ID)
		}
		binding.Made = now.UnixMilli()
		binding.Until = b.countedUntil(key.Kind, binding, ttl)
	}
	return entry{key: key, binding: binding}
}

// countedUntil is how long what a binding names counts as owned, that is alive now. A task's ttl
// counts from its creation.
func (b *Bindings) countedUntil(kind Kind, binding Binding, ttl time.Duration) int64 {
	switch {
	case kind == Session:
		return binding.Expires.Add(b.options.SessionIdle / sessionSlack).UnixMilli()
	case binding.Provisional():
		return binding.Expires.UnixMilli()
	case ttl <= 0 || ttl > b.options.MaxTTL:
		ttl = b.options.MaxTTL
	}
	return max(binding.Made+ttl.Milliseconds(), time.Now().Add(2*extendBeyond).UnixMilli())
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
	owner, _, _ := b.lookup(ctx, key, false) // none is as good: who reads the list finds out
	b.pending.remove(key)
	b.near.remove(key)
	if err := b.store.Delete(ctx, key.digest()); err != nil {
		b.log.Debug("a binding could not be dropped", "kind", string(key.Kind), "error", err)
	}
	b.unlist(ctx, key, owner.Upstream)
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
