package sticky

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"berth/internal/storage"
	"berth/sticky/binding"
)

// binder makes bindings, and drops them.
type binder struct {
	terms      terms
	local      *local
	records    *records
	rolls      *rolls
	handshakes handshakes
	forgotten  *forgotten
	metrics    *metrics
	log        *slog.Logger
}

// making is what is bound in one step, and the room that it takes, which is used again.
type making struct {
	entries [2]entry // the binding, and the claim that guards it
	bound   int      // so many of them
	now     time.Time
	writes  [3]storage.Write
	values  [2][binding.UsualSize]byte // room for what the entries are written as
}

var makings = sync.Pool{New: func() any { return new(making) }}

// letGo ends the use of m, which keeps nothing of it but room.
func (m *making) letGo() {
	clear(m.entries[:m.bound])
	clear(m.writes[:min(m.bound+1, len(m.writes))]) // one more is a handshake's
	m.bound = 0
	makings.Put(m)
}

// bind makes binding, and what is beside it, nothing of which it changes; nil: nothing is.
func (b *binder) bind(ctx context.Context, key *Key, binding *Binding, ttl time.Duration, beside *Beside) error {
	m := makings.Get().(*making)
	defer m.letGo()
	own := &m.entries[0]
	own.key, own.binding, m.bound, m.now = *key, *binding, 1, time.Now()
	b.terms.complete(own, ttl, m.now)
	if b.collides(own) {
		return ErrOwned
	}
	if beside == nil {
		return b.make(ctx, m, "")
	}
	if beside.Handshake != "" {
		own.binding.Kept = m.now.Add(b.terms.handshake())
	}
	if beside.Claim.Upstream != "" {
		claim := &m.entries[1]
		claim.key, claim.binding, m.bound = key.Claim(), beside.Claim, 2
		b.terms.complete(claim, beside.ClaimTTL, m.now)
		if b.collides(claim) {
			*claim, m.bound = entry{}, 1
		}
	}
	return b.make(ctx, m, beside.Handshake)
}

// collides reports whether what is pending keeps e from being bound, which is counted.
func (b *binder) collides(e *entry) bool {
	if !b.local.collides(e) {
		return false
	}
	b.metrics.bound(e.key.Kind, outcomeCollision)
	return true
}

// make binds all of m in one step, and returns what becomes of the first one.
func (b *binder) make(ctx context.Context, m *making, handshake string) (err error) {
	making, writes := m.entries[:m.bound], m.writes[:0]
	for i := range making {
		writes = append(writes, making[i].write(m.now, m.values[i][:0]))
		b.rolls.enlist(&writes[i], &making[i], m.now)
	}
	if handshake != "" {
		writes = append(writes, b.handshakes.write(making[0].key, handshake))
	}
	away := b.records.store.Each(ctx, writes)
	if away != nil && handshake != "" && !b.handshakes.pending.add(making[0].key, handshake) {
		making[0].binding.Kept = time.Time{}
	}
	for i := len(making) - 1; i >= 0; i-- {
		var outcome string
		outcome, err = b.settle(ctx, &making[i], &writes[i], away)
		b.metrics.bound(making[i].key.Kind, outcome)
	}
	if handshake != "" && away == nil && err == nil && !writes[len(making)].Done {
		b.handshakes.over(ctx, making[0].key, handshake)
	}
	return err
}

// settle takes in what became of e's write: away is why the store did not take it.
func (b *binder) settle(ctx context.Context, e *entry, w *storage.Write, away error) (outcome string, err error) {
	b.rolls.owing.revive(e.key)
	b.forgotten.remove(e.key)
	displaced := ""
	if away == nil && !w.Done && e.displaces(w.Standing) {
		w.Standing, w.Done, displaced, away = b.records.displace(ctx, e, w)
	}
	if away != nil {
		return b.local.bind(*e, away)
	}
	standing, listed := w.Standing, e.binding.Upstream
	if !w.Done && e.taken(standing) {
		if stands, _ := binding.Decode(standing.Value); w.Listed && stands.Upstream != listed {
			b.rolls.strike(ctx, e.key, listed)
		}
		return outcomeCollision, ErrOwned
	}
	if !w.Done && countsNot(standing) { // it is told again
		e.binding, _ = binding.Decode(standing.Value)
		e.counts = countsNoMore
	}
	switch {
	case w.Listed && e.counts == countsNoMore:
		b.rolls.remove(ctx, e.key, listed)
	case !w.Listed && e.counts != countsNoMore:
		b.rolls.add(ctx, *e)
	}
	if displaced != e.binding.Upstream {
		b.rolls.remove(ctx, e.key, displaced)
	}
	b.local.stored(e)
	return outcomeStored, nil
}

// unbind drops e, of which the zero binding is one that nobody knows.
func (b *binder) unbind(ctx context.Context, e entry) {
	b.local.forget(e.key)
	err := b.records.store.Delete(ctx, e.key.Digest())
	if err == nil {
		b.rolls.remove(ctx, e.key, e.binding.Upstream)
		return
	}
	b.owe(e, err)
}

// unbindAs drops what is bound as e says, and reports whether nothing else stands, as far as is known.
func (b *binder) unbindAs(ctx context.Context, e entry) bool {
	if b.local.forgetAs(&e) {
		return false
	}
	err := b.records.revise(ctx, e.key, 0, func(value []byte) ([]byte, error) {
		if standing, err := binding.Decode(value); err != nil || e.isSucceededBy(standing) {
			return nil, ErrOwned
		}
		return nil, nil
	})
	switch {
	case errors.Is(err, ErrOwned):
		return false
	case err == nil, errors.Is(err, ErrUnknown):
		b.rolls.remove(ctx, e.key, e.binding.Upstream)
		return true
	}
	b.owe(e, err)
	return true
}

// owe has what could not be dropped, because of err, be dropped later.
func (b *binder) owe(e entry, err error) {
	b.log.Debug("a binding could not be dropped", "kind", string(e.key.Kind), "error", err)
	if e.key.Kind.Counted() && e.binding.Upstream != "" {
		b.rolls.owing.add(e)
	}
}

// put writes binding over what stands. What is pending is written with it later.
func (b *binder) put(ctx context.Context, key Key, binding Binding) {
	e := b.terms.entry(key, binding, 0)
	b.local.add(&e)
	if !b.local.pending.swap(e.key, nil, &e) {
		b.records.put(ctx, e)
	}
}

func (b *binder) amend(ctx context.Context, key Key, binding Binding, handshake string) {
	if handshake == "" {
		b.put(ctx, key, binding)
		return
	}
	if _, waits := b.local.pending.get(key); waits {
		if b.handshakes.pending.add(key, handshake) {
			binding.Kept = time.Now().Add(b.terms.handshake())
		}
		b.put(ctx, key, binding)
		return
	}
	e := b.terms.entry(key, binding, 0)
	e.binding.Kept = time.Now().Add(b.terms.handshake())
	over := e.write(time.Now(), nil)
	over.Over = true
	if err := b.records.store.Each(ctx, []storage.Write{over, b.handshakes.write(key, handshake)}); err != nil {
		e.binding.Kept = time.Time{}
		b.log.Debug("a binding could not be written", "kind", string(key.Kind), "error", err)
	}
	b.local.add(&e)
}
