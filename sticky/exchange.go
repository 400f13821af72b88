package sticky

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/internal/storage"
)

// maxRevisions bounds how often a writer begins anew because another one was first.
const maxRevisions = 16

// get reads the value under key. The error is ErrUnknown, or wraps storage.ErrUnavailable or ctx's.
func (b *Bindings) get(ctx context.Context, key Key) (storage.Record, error) {
	record, err := b.store.Get(ctx, key.digest())
	if errors.Is(err, storage.ErrNotFound) {
		return storage.Record{}, ErrUnknown
	}
	if err != nil {
		return storage.Record{}, fmt.Errorf("sticky: look-up: %w", err)
	}
	return record, nil
}

// revise has change make the next value of what stands under key, for life; nil drops it. Writers
// that meet begin anew, so that none undoes another's change. Errors are get's and change's.
func (b *Bindings) revise(ctx context.Context, key Key, life time.Duration, change func(value []byte) ([]byte, error)) error {
	for range maxRevisions {
		record, err := b.get(ctx, key)
		if err != nil {
			return err
		}
		next, err := change(record.Value)
		if err != nil {
			return err
		}
		if next == nil {
			return b.store.Delete(ctx, key.digest())
		}
		_, err = b.store.Swap(ctx, key.digest(), record.Version, next, life)
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
func (b *Bindings) exchange(ctx context.Context, key Key, life time.Duration, next Binding, judge func(standing Binding) error) error {
	return b.revise(ctx, key, life, func(value []byte) ([]byte, error) {
		standing, err := decode(value)
		if err != nil {
			return nil, ErrUnknown
		}
		return []byte(next.encode()), judge(standing)
	})
}
