package sticky

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"berth/internal/storage"
)

// maxRevisions bounds how often a writer begins anew because another one was first.
const maxRevisions = 16

// records are what the store has, by key.
type records struct {
	store *storage.Store
	log   *slog.Logger
}

// get reads the value under key. The error is ErrUnknown, or wraps storage.ErrUnavailable or ctx's.
func (r *records) get(ctx context.Context, key Key) (storage.Record, error) {
	record, err := r.store.Get(ctx, key.digest())
	if errors.Is(err, storage.ErrNotFound) {
		return storage.Record{}, ErrUnknown
	}
	if err != nil {
		return storage.Record{}, fmt.Errorf("sticky: look-up: %w", err)
	}
	return record, nil
}

// binding reads the binding of key. One that cannot be read is unknown.
func (r *records) binding(ctx context.Context, key Key) (Binding, error) {
	record, err := r.get(ctx, key)
	if err != nil {
		return Binding{}, err
	}
	binding, err := decode(record.Value)
	if err != nil {
		r.log.Warn("a stored binding cannot be read", "error", err)
		return Binding{}, ErrUnknown
	}
	return binding, nil
}

// put writes e over whatever stands. An error is logged: what is written so is a preference, or told again.
func (r *records) put(ctx context.Context, e entry) {
	if err := r.store.Put(ctx, e.key.digest(), []byte(e.binding.encode()), time.Until(e.binding.Expires)); err != nil {
		r.log.Debug("a binding could not be written", "kind", string(e.key.Kind), "error", err)
	}
}

// revise has change make the next value of what stands under key, for life; nil drops it. Writers
// that meet begin anew, so that none undoes another's change. Errors are get's and change's.
func (r *records) revise(ctx context.Context, key Key, life time.Duration, change func(value []byte) ([]byte, error)) error {
	for range maxRevisions {
		record, err := r.get(ctx, key)
		if err != nil {
			return err
		}
		next, err := change(record.Value)
		if err != nil {
			return err
		}
		if next == nil {
			return r.store.Delete(ctx, key.digest())
		}
		_, err = r.store.Swap(ctx, key.digest(), record.Version, next, life)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			return ErrUnknown
		case !errors.Is(err, storage.ErrConflict):
			return err
		}
	}
	return fmt.Errorf("sticky: %w", storage.ErrConflict)
}

// exchange writes next over the binding that stands, if judge has no objection, which it returns.
func (r *records) exchange(ctx context.Context, key Key, life time.Duration, next Binding, judge func(standing Binding) error) error {
	return r.revise(ctx, key, life, func(value []byte) ([]byte, error) {
		standing, err := decode(value)
		if err != nil {
			return nil, ErrUnknown
		}
		return []byte(next.encode()), judge(standing)
	})
}
