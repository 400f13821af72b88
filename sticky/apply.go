package sticky

import (
	"context"
	"errors"
	"time"
)

// apply writes e over the binding that stands, if that has the same owner or yields; a
// binding that the store lost is put back, unless this process has unbound it.
func (r *refresher) apply(ctx context.Context, e entry) error {
	if e.key.Kind == Handshake { // one that is gone stays gone: its session is not moved then
		return r.records.revise(ctx, e.key, r.terms.handshake(), func(handshake []byte) ([]byte, error) { return handshake, nil })
	}
	life := time.Until(e.binding.Expires)
	if life <= 0 {
		return nil
	}
	err := r.records.exchange(ctx, e.key, life, func(standing Binding) (Binding, error) {
		next, err := e.over(standing)
		if e.counts == countsUntil && next.EndedCounting() {
			e.counts = countsNoMore
		}
		return next, err
	})
	switch {
	case errors.Is(err, ErrUnknown) && r.forgotten.has(e.key):
		return nil
	case errors.Is(err, ErrUnknown):
		_, _, err = r.records.store.PutIfAbsent(ctx, e.key.Digest(), e.binding.Encode(), life)
		if err == nil && r.forgotten.has(e.key) { // meanwhile
			return r.drop(ctx, e)
		}
		if e.binding.Until != 0 && e.counts == countsAsBefore {
			e.counts = countsUntil // the store lost its place as well
		}
	case errors.Is(err, ErrOwned):
		r.local.near.Remove(e.key)
		return nil
	}
	if err != nil {
		r.owe(e)
		return err
	}
	r.recounted(ctx, e)
	return nil
}

// recounted writes what a refresh changes of the owner's list.
func (r *refresher) recounted(ctx context.Context, e entry) {
	switch e.counts {
	case countsUntil:
		r.rolls.add(ctx, e)
	case countsNoMore:
		r.rolls.remove(ctx, e.key, e.binding.Upstream)
	}
}
