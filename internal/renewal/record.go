package renewal

import (
	"context"
	"errors"
	"sync"
	"time"

	"berth/internal/storage"
)

// Record is one that this process writes, alone but for its own goroutines.
type Record struct {
	store storage.Engine
	key   string
	life  time.Duration

	mu      sync.Mutex // guards the fields below
	version uint64     // as it was last written; 0: it never was
	unsure  bool       // the store may have written it since, and not said so
}

// NewRecord returns the record of that key, which expires a life after it was last written.
func NewRecord(store storage.Engine, key string, life time.Duration) *Record {
	return &Record{store: store, key: key, life: life}
}

// IsBegun reports whether it was ever written.
func (r *Record) IsBegun() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.version != 0
}

// Renew writes it anew. It fails with storage.ErrNotFound where it does not stand, and with storage.ErrConflict if another goroutine
// renewed it meanwhile.
func (r *Record) Renew(ctx context.Context, value []byte) error {
	version, err := r.standing(ctx)
	if err != nil {
		return err
	}
	r.doubt()
	standing, err := r.store.Swap(ctx, r.key, version, value, r.life)
	if errors.Is(err, storage.ErrConflict) { // the last renewal was not acknowledged, or another one is under way
		standing, err = r.store.Swap(ctx, r.key, standing.Version, value, r.life)
	}
	if err != nil && !errors.Is(err, storage.ErrConflict) {
		return err
	}
	r.written(standing)
	return err
}

// Begin writes it where it did not stand. What others have put there meanwhile, as who looks whether it could be renewed does for a
// moment, is written over.
func (r *Record) Begin(ctx context.Context, value []byte) error {
	r.doubt()
	standing, made, err := r.store.PutIfAbsent(ctx, r.key, value, r.life)
	if err == nil && !made {
		standing, err = r.store.Swap(ctx, r.key, standing.Version, value, r.life)
	}
	if errors.Is(err, storage.ErrNotFound) { // that moment is over
		standing, _, err = r.store.PutIfAbsent(ctx, r.key, value, r.life)
	}
	if err != nil {
		return err
	}
	r.written(standing)
	return nil
}

// standing is the version at which it is to be renewed. A store that takes what it cannot confirm, as with too few replicas, confirms as
// little that the record stands at another one.
func (r *Record) standing(ctx context.Context) (uint64, error) {
	r.mu.Lock()
	version, unsure := r.version, r.unsure
	r.mu.Unlock()
	if !unsure {
		return version, nil
	}
	record, err := r.store.Get(ctx, r.key)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return version, nil
	case err != nil:
		return 0, err
	}
	return record.Version, nil
}

func (r *Record) doubt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unsure = true
}

func (r *Record) written(as storage.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version, r.unsure = as.Version, false
}
