package sticky

import (
	"context"
	"errors"
	"time"

	"berth/internal/storage"
)

// update is what an answer told about a bound task or a used session, to be
// written behind the answer's back.
type update struct {
	kind    Kind
	name    string
	binding Binding
}

// Observe notes a task's state as its owner just told it: a changed status, or a
// life that is longer now, is written to the store by Run. current is the binding
// that the call was routed by.
func (b *Bindings) Observe(key Key, current Binding, status string, ttl time.Duration) {
	next := current
	if status != "" {
		next.Status = status
	}
	if expires := time.Now().Add(b.life(key.Kind, ttl)); expires.After(current.Expires.Add(extendBeyond)) {
		next.Expires = expires
	}
	if next == current {
		return
	}
	name := key.digest()
	b.remember(key.Kind, name, next)
	b.enqueue(update{key.Kind, name, next})
}

// Touch notes that a session is in use. The store hears of it once a minute.
func (b *Bindings) Touch(key Key, current Binding) {
	name := key.digest()
	now := time.Now()
	e, ok := b.near.get(name)
	if ok && now.Sub(e.refreshed) < touchEvery {
		return
	}
	if !ok && current.Expires.Sub(now) > b.options.SessionIdle-touchEvery {
		return
	}
	current.Expires = now.Add(b.options.SessionIdle)
	b.remember(key.Kind, name, current)
	b.enqueue(update{key.Kind, name, current})
}

// enqueue never blocks: what is dropped will be told again by the next answer.
func (b *Bindings) enqueue(u update) {
	select {
	case b.updates <- u:
	default:
		b.metrics.dropped()
	}
}

// apply writes one update over the binding that stands, if that has the same
// owner; a binding that the store lost is put back.
func (b *Bindings) apply(ctx context.Context, u update) error {
	life := time.Until(u.binding.Expires)
	if life <= 0 {
		return nil
	}
	record, err := b.store.Get(ctx, u.name)
	if errors.Is(err, storage.ErrNotFound) {
		_, _, err = b.store.PutIfAbsent(ctx, u.name, u.binding.encode(), life)
		return err
	}
	if err != nil {
		return err
	}
	if standing, err := decode(record.Value); err != nil || standing.Upstream != u.binding.Upstream {
		return err
	}
	_, err = b.store.Swap(ctx, u.name, record.Version, u.binding.encode(), life)
	if errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrNotFound) {
		return nil // somebody else has just written what they saw
	}
	return err
}
