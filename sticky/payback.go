package sticky

import (
	"context"
	"errors"
	"time"
)

// payBack writes what is owed, until the store refuses one: then it is tried again.
func (r *refresher) payBack(ctx context.Context) {
	owing := &r.rolls.owing
	if owing.count.Load() == 0 || !r.records.store.Healthy() {
		return
	}
	_ = inPortions(owing.some, func(e entry) error {
		if err := r.pay(ctx, e); err != nil {
			return err
		}
		owing.paid(e)
		return nil
	})
}

func (r *refresher) pay(ctx context.Context, e entry) error {
	switch {
	case e.counts == countsGone:
		return r.drop(ctx, e)
	case e.counts == countsNoMore:
		return r.apply(ctx, e)
	case time.Now().UnixMilli() < e.binding.Until:
		return r.rolls.keep(ctx, &e)
	}
	return nil
}

// drop drops e, unless its key was bound anew since.
func (r *refresher) drop(ctx context.Context, e entry) error {
	err := r.records.exchange(ctx, e.key, shortest, func(standing Binding) (Binding, error) {
		if standing.Made != e.binding.Made || !e.agrees(standing) {
			return Binding{}, ErrOwned
		}
		return standing, nil
	})
	switch {
	case errors.Is(err, ErrOwned):
		return nil
	case err == nil, errors.Is(err, ErrUnknown):
		r.rolls.remove(ctx, e.key, e.binding.Upstream)
		return nil
	}
	return err
}
