package sticky

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"berth/internal/storage"
	"berth/sticky/binding"
)

// shortest is the life of what is to go under a condition: an engine deletes without one.
const shortest = time.Nanosecond

// maxRevisions bounds how often a writer begins anew because another one was first.
const maxRevisions = 16

// records are what the store has, by key.
type records struct {
	store *storage.Store
	log   *slog.Logger
}

// get reads the value under key. The error is ErrUnknown, or wraps storage.ErrUnavailable or ctx's.
func (r *records) get(ctx context.Context, key Key) (storage.Record, error) {
	record, err := r.store.Get(ctx, key.Digest())
	return record, worded(err)
}

func worded(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, storage.ErrNotFound):
		return ErrUnknown
	}
	return fmt.Errorf("sticky: look-up: %w", err)
}

// lent is room for a record that is read, and for its name.
type lent struct {
	name  [64]byte
	value [1 << 10]byte
}

var rooms = sync.Pool{New: func() any { return new(lent) }}

// binding has into be the binding of key, which has that sum, and returns it as the near cache keeps it, too, if it fits there. One that
// cannot be read is unknown. With an error into stays as it is.
func (r *records) binding(ctx context.Context, key *Key, of *binding.Sum, into *Binding) (k binding.Packed, fits bool, err error) {
	room := rooms.Get().(*lent)
	record, err := r.store.GetInto(ctx, of.AppendName(room.name[:0], key.Kind), room.value[:0])
	if err != nil {
		rooms.Put(room)
		return binding.Packed{}, false, worded(err)
	}
	k, fits, err = binding.DecodeInto(record.Value, key, into)
	rooms.Put(room)
	if err != nil {
		r.log.Warn("a stored binding cannot be read", "error", err)
		err = ErrUnknown
	}
	return k, fits, err
}

// put writes e over whatever stands. An error is logged: what is written so is a preference, or told again.
func (r *records) put(ctx context.Context, e entry) {
	if err := r.store.Put(ctx, e.key.Digest(), e.binding.Encode(), time.Until(e.binding.Expires)); err != nil {
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
			err = r.dropAs(ctx, key, record)
		} else {
			_, err = r.store.Swap(ctx, key.Digest(), record.Version, next, life)
		}
		switch {
		case errors.Is(err, storage.ErrNotFound):
			return ErrUnknown
		case !errors.Is(err, storage.ErrConflict):
			return err
		}
	}
	return fmt.Errorf("sticky: %w", storage.ErrConflict)
}

// dropAs drops what stands under key, unless that is another record than this one by now: storage.ErrConflict.
func (r *records) dropAs(ctx context.Context, key Key, record storage.Record) error {
	name := key.Digest()
	done, _, err := r.store.InOrder(ctx, storage.Swapping(name, record.Version, record.Value, shortest), storage.Deleting(name))
	if err == nil && done == 0 {
		return storage.ErrConflict
	}
	return err
}

// exchange is revise of a binding.
func (r *records) exchange(ctx context.Context, key Key, life time.Duration, change func(standing Binding) (next Binding, err error)) error {
	return r.revise(ctx, key, life, func(value []byte) ([]byte, error) {
		standing, err := binding.Decode(value)
		if err != nil {
			return nil, ErrUnknown
		}
		next, err := change(standing)
		if err != nil {
			return nil, err
		}
		return next.Encode(), nil
	})
}

// mark writes a mark, whatever stands.
func (r *records) mark(ctx context.Context, key Key, mark string, life time.Duration) error {
	if err := r.store.Put(ctx, key.Digest(), []byte(mark), life); err != nil {
		return fmt.Errorf("sticky: mark: %w", err)
	}
	return nil
}

// markOf reads a mark; "": there is none.
func (r *records) markOf(ctx context.Context, key Key) (string, error) {
	record, err := r.get(ctx, key)
	if errors.Is(err, ErrUnknown) {
		err = nil
	}
	return string(record.Value), err
}
