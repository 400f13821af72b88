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
	return b.BindBeside(ctx, key, binding, ttl, Beside{})
}

// Beside is what is written with a binding, in the same step. The zero value is nothing.
type Beside struct {
	Claim    Binding       // that guards the key; without an upstream: there is none. One that stands already is as good
	ClaimTTL time.Duration // as Bind's ttl

	// Handshake is what it takes to open the session anew, its bytes the caller's to read and write; "": none. It is kept
	// until Binding.Kept, at least.
	Handshake string
}

// BindBeside is Bind with what is written beside the binding. Without a store the claim is bound locally as well,
// and the handshake is not kept, so that Binding.Kept is zero.
func (b *Bindings) BindBeside(ctx context.Context, key Key, binding Binding, ttl time.Duration, beside Beside) error {
	if beside.Handshake != "" {
		binding.Kept = time.Now().Add(b.handshakeLife())
	}
	making := [2]entry{b.entry(key, binding, ttl)}
	all := making[:1]
	if b.collides(ctx, making[0]) {
		return ErrOwned
	}
	if beside.Claim.Upstream != "" {
		making[1] = b.entry(key.Claim(), beside.Claim, beside.ClaimTTL)
		if !b.collides(ctx, making[1]) {
			all = making[:2]
		}
	}
	return b.bind(ctx, all, beside.Handshake)
}

// bind binds all of making, and returns what becomes of the first one.
func (b *Bindings) bind(ctx context.Context, making []entry, handshake string) (err error) {
	writes := make([]storage.Write, 0, len(making)+1)
	for i := range making {
		writes = append(writes, b.writeOf(&making[i]))
	}
	if handshake != "" {
		writes = append(writes, b.handshakeWrite(making[0].key, handshake))
	}
	away := b.store.Each(ctx, writes)
	if away != nil && handshake != "" {
		making[0].binding.Kept = time.Time{}
	}
	for i := len(making) - 1; i >= 0; i-- {
		var outcome string
		outcome, err = b.settle(ctx, making[i], &writes[i], away)
		b.metrics.bound(ctx, making[i].key.Kind, outcome)
	}
	return err
}

// collides reports whether what is pending keeps e from being bound, which is counted.
func (b *Bindings) collides(ctx context.Context, e entry) bool {
	have, ok := b.pending.get(e.key)
	if !ok || have.yieldsTo(e.binding) || have.Upstream == e.binding.Upstream {
		return false
	}
	b.metrics.bound(ctx, e.key.Kind, outcomeCollision)
	return true
}

// settle takes in what became of e's write: away is why the store did not take it.
func (b *Bindings) settle(ctx context.Context, e entry, w *storage.Write, away error) (outcome string, err error) {
	displaced := ""
	if away == nil && !w.Done && e.displaces(w.Standing) {
		w.Standing, w.Done, displaced, away = b.displace(ctx, e, w)
	}
	if away != nil {
		return b.bindLocally(e, away)
	}
	if !w.Done && e.taken(w.Standing) {
		return outcomeCollision, ErrOwned
	}
	if !w.Listed {
		b.listed(ctx, e)
	}
	if displaced != e.binding.Upstream {
		b.unlist(ctx, e.key, displaced)
	}
	b.pending.remove(e.key)
	b.near.add(e)
	return outcomeStored, nil
}

// writeOf is what makes e where nothing stands.
func (b *Bindings) writeOf(e *entry) storage.Write {
	w := storage.Write{Key: e.key.digest(), Value: e.binding.encode(), TTL: time.Until(e.binding.Expires)}
	if e.key.Kind.counted() {
		w.List, w.Member = b.lists.of(rollOf(e.key, e.binding.Upstream)), e.member(w.Key)
	}
	return w
}

// establish writes e where nothing stands, or what yields to it, without its place in a list: then displaced is who
// owned it. It returns the record that stands otherwise.
func (b *Bindings) establish(ctx context.Context, e entry) (standing storage.Record, written bool, displaced string, err error) {
	w := b.writeOf(&e)
	standing, written, err = b.store.PutIfAbsent(ctx, w.Key, []byte(w.Value), w.TTL)
	if err != nil || written || !e.displaces(standing) {
		return standing, written, "", err
	}
	w.Standing = standing
	return b.displace(ctx, e, &w)
}

// displace writes e over what w met, as long as that yields to it.
func (b *Bindings) displace(ctx context.Context, e entry, w *storage.Write) (standing storage.Record, written bool, displaced string, err error) {
	standing = w.Standing
	for range maxRevisions {
		yields, _ := decode(standing.Value) // it was read a moment ago
		standing, err = b.store.Swap(ctx, w.Key, standing.Version, []byte(w.Value), w.TTL)
		switch {
		case err == nil:
			written, displaced = true, yields.Upstream
		case errors.Is(err, storage.ErrConflict):
			err = nil // the next round judges what stands by now
		case errors.Is(err, storage.ErrNotFound):
			standing, written, err = b.store.PutIfAbsent(ctx, w.Key, []byte(w.Value), w.TTL)
		}
		if err != nil || written || !e.displaces(standing) {
			break
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
		binding.Until = b.countedUntil(key.Kind, binding, ttl, now)
	}
	return entry{key: key, binding: binding}
}

// countedUntil is how long what a binding names counts as owned, that is alive now. A task's ttl
// counts from its creation.
func (b *Bindings) countedUntil(kind Kind, binding Binding, ttl time.Duration, now time.Time) int64 {
	switch {
	case kind == Session:
		return binding.Expires.Add(b.options.SessionIdle / sessionSlack).UnixMilli()
	case binding.Provisional():
		return binding.Expires.UnixMilli()
	case ttl <= 0 || ttl > b.options.MaxTTL:
		ttl = b.options.MaxTTL
	}
	return max(binding.Made+ttl.Milliseconds(), now.Add(2*extendBeyond).UnixMilli())
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

// Amend replaces what is kept of a binding that this process has just made, with a handshake as BindBeside keeps one. It
// must not change the owner.
func (b *Bindings) Amend(ctx context.Context, key Key, binding Binding, handshake string) {
	e := b.entry(key, binding, 0)
	if _, waits := b.pending.get(key); waits || handshake == "" {
		b.put(ctx, e)
		return
	}
	e.binding.Kept = time.Now().Add(b.handshakeLife())
	over := storage.Write{Key: key.digest(), Value: e.binding.encode(), TTL: time.Until(e.binding.Expires), Over: true}
	if err := b.store.Each(ctx, []storage.Write{over, b.handshakeWrite(key, handshake)}); err != nil {
		e.binding.Kept = time.Time{}
		b.log.Debug("a binding could not be written", "kind", string(key.Kind), "error", err)
	}
	b.near.add(e)
}

// put writes e over what stands. What is pending is written with it later.
func (b *Bindings) put(ctx context.Context, e entry) {
	b.near.add(e)
	if b.pending.swap(e.key, nil, &e) {
		return
	}
	if err := b.store.Put(ctx, e.key.digest(), []byte(e.binding.encode()), time.Until(e.binding.Expires)); err != nil {
		b.log.Debug("a binding could not be written", "kind", string(e.key.Kind), "error", err)
	}
}
