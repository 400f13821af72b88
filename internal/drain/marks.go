package drain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"berth/internal/storage"
	"berth/routing"
)

// marks are those of one pool, by upstream.
type marks map[string]routing.Drain

// format is the version of what is stored.
const format = 1

// storedMarks is a pool's record.
type storedMarks struct {
	Format int   `json:"v"`
	Marks  marks `json:"upstreams"`
	// Absent is since when those with a mark are in no berth's pool, as far as is known; see absentFor.
	Absent map[string]time.Time `json:"absent,omitempty"`
}

// maxRevisions bounds how often a writer begins anew because another one was first.
const maxRevisions = 16

// Errors of Set.
var (
	ErrUnknown  = errors.New("drain: no such upstream")
	errContends = errors.New("drain: too many change the marks at once")
	errNewer    = errors.New("drain: the marks are of a newer berth")
)

func marksKey(pool string) string { return "drain:marks:" + pool }

// Set has every berth give an upstream no new work, from when Since says; the zero mark ends that.
// One that stands keeps its Since. It returns the mark that stands then. An upstream that no pool has
// can lose its mark only, if it has one. Errors wrap ErrUnknown, storage.ErrUnavailable or ctx's.
func (w *Watch) Set(ctx context.Context, pool, upstream string, mark routing.Drain) (routing.Drain, error) {
	known := w.find(pool, upstream) != nil
	if mark.Set() && !known {
		return mark, fmt.Errorf("%w: %s/%s", ErrUnknown, pool, upstream)
	}
	mark.Since = mark.Since.UTC().Truncate(time.Millisecond)
	for range maxRevisions {
		stands, version, err := w.read(ctx, pool)
		if err != nil {
			return mark, err
		}
		if !known && !stands.Marks[upstream].Set() {
			return mark, fmt.Errorf("%w: %s/%s", ErrUnknown, pool, upstream)
		}
		if before := stands.Marks[upstream]; before.Set() && mark.Set() {
			mark.Since = before.Since
		}
		if stands.Marks[upstream] == mark {
			return mark, w.heedAll(ctx)
		}
		if stands.Marks[upstream] = mark; !mark.Set() {
			delete(stands.Marks, upstream)
		}
		now, err := w.o.Store.Now(ctx)
		if err != nil {
			return mark, err
		}
		stands.forget(w.pool(pool), now)
		err = w.write(ctx, pool, stands, version)
		if err == nil {
			_ = w.o.Store.Notify(ctx, topic, pool) // the others look by themselves
			return mark, w.heedAll(ctx)
		}
		if !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrNotFound) {
			return mark, err
		}
	}
	return mark, fmt.Errorf("%w: %w", storage.ErrUnavailable, errContends)
}

// read returns the marks of a pool, and the version of their record; 0: there is none.
func (w *Watch) read(ctx context.Context, pool string) (stored storedMarks, version uint64, err error) {
	record, err := w.o.Store.Get(ctx, marksKey(pool))
	if errors.Is(err, storage.ErrNotFound) {
		return storedMarks{Format: format, Marks: marks{}}, 0, nil
	}
	if err != nil {
		return storedMarks{}, 0, err
	}
	if err := json.Unmarshal(record.Value, &stored); err != nil || stored.Format != format {
		return storedMarks{}, 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, errNewer)
	}
	if stored.Marks == nil {
		stored.Marks = marks{}
	}
	return stored, record.Version, nil
}

func (w *Watch) write(ctx context.Context, pool string, m storedMarks, version uint64) error {
	value, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if version > 0 {
		_, err = w.o.Store.Swap(ctx, marksKey(pool), version, value, 0)
		return err
	}
	_, made, err := w.o.Store.PutIfAbsent(ctx, marksKey(pool), value, 0)
	if err == nil && !made {
		return storage.ErrConflict
	}
	return err
}

// heedAll has the pools go by the marks that stand.
func (w *Watch) heedAll(ctx context.Context) error { return w.Heed(ctx, w.o.Pools()) }

// Heed has pools go by the marks that stand, before they are among those of the watch. Where the
// store does not say, they go by those that were heard last.
func (w *Watch) Heed(ctx context.Context, pools []*routing.Pool) error {
	w.turn.Lock()
	defer w.turn.Unlock()
	var failed error
	for _, pool := range pools {
		stands, version, err := w.read(ctx, pool.Name())
		if err != nil {
			failed = err
			continue
		}
		pool.SetDrains(stands.Marks)
		if stands.found(pool) {
			_ = w.write(ctx, pool.Name(), stands, version) // or the next time
		}
	}
	if failed != nil && ctx.Err() == nil {
		w.log.Debug("the marks of drained upstreams could not be read", "error", failed)
	}
	return failed
}

func (w *Watch) find(pool, upstream string) *routing.Upstream {
	if p := w.pool(pool); p != nil {
		return p.Find(upstream)
	}
	return nil
}

// pool is the one of this process that has that name; nil: it has none.
func (w *Watch) pool(name string) *routing.Pool {
	for _, p := range w.o.Pools() {
		if p.Name() == name {
			return p
		}
	}
	return nil
}
