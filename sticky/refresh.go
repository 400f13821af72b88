package sticky

import (
	"context"
	"errors"
	"time"
)

// Observe notes a task's state as its owner just told it: a changed status, or a
// life that is longer now, is written to the store by Run. current is the binding
// that the call was routed by. It returns the binding as it is kept now, and whether
// that is another than before.
func (b *Bindings) Observe(key Key, current Binding, status string, ttl time.Duration) (Binding, bool) {
	next := current
	if status != "" {
		next.Status = status
	}
	if expires := time.Now().Add(b.life(key.Kind, ttl)); expires.After(current.Expires.Add(extendBeyond)) {
		next.Expires = expires
	}
	if next == current {
		return current, false
	}
	b.refresh(entry{key, next})
	return next, true
}

// Touch notes that a session, or a value of an affinity, is in use. current is the binding that
// the call was routed by. The store hears of it once a minute at most. Results as of Observe.
func (b *Bindings) Touch(key Key, current Binding) (Binding, bool) {
	now, idle := time.Now(), b.options.SessionIdle
	due := now.Add(idle - min(touchEvery, idle/2))
	if current.Expires.After(due) {
		return current, false
	}
	if latest, ok := b.near.get(key); ok {
		current = latest // a call routed at the same time may have been first
	}
	if current.Expires.After(due) {
		return current, false
	}
	current.Expires = now.Add(idle)
	current.Kept = b.prolonged(key, current.Kept)
	b.refresh(entry{key, current})
	return current, true
}

// Keep has binding written as it is, by Run, over what stands of the same owner.
func (b *Bindings) Keep(key Key, binding Binding) {
	b.refresh(entry{key, binding})
}

// refresh lets this process know e at once and the store soon. It never blocks:
// what is dropped is told again when the next answer extends the binding.
func (b *Bindings) refresh(e entry) {
	b.near.refresh(e)
	b.enqueue(e)
}

// enqueue hands e to Run, if there is room.
func (b *Bindings) enqueue(e entry) bool {
	select {
	case b.updates <- e:
		return true
	default:
		b.metrics.dropped()
		return false
	}
}

// apply writes e over the binding that stands, if that has the same owner or yields; a
// binding that the store lost is put back.
func (b *Bindings) apply(ctx context.Context, e entry) error {
	if e.key.Kind == Handshake { // one that is gone stays gone: its session is not moved then
		return b.revise(ctx, e.key, b.handshakeLife(), func(handshake []byte) ([]byte, error) { return handshake, nil })
	}
	life := time.Until(e.binding.Expires)
	if life <= 0 {
		return nil
	}
	err := b.exchange(ctx, e.key, life, e.binding, func(standing Binding) error {
		if !e.agrees(standing) && !standing.yieldsTo(e.binding) || e.binding.yieldsTo(standing) {
			return ErrOwned
		}
		return nil
	})
	switch {
	case errors.Is(err, ErrUnknown):
		_, _, err = b.store.PutIfAbsent(ctx, e.key.digest(), e.binding.encode(), life)
	case errors.Is(err, ErrOwned):
		b.near.remove(e.key)
		return nil
	}
	return err
}
