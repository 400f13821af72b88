package upgrade

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/internal/seal"
	"berth/internal/storage"
	"berth/upgrade/task"
)

// ErrUnknown says that there is no such task for who asks: it never was, has expired, or
// is another's. Which of these it is must not show.
var ErrUnknown = errors.New("upgrade: unknown task")

const (
	// spare is how much longer than its time to live a record is kept, so that no client
	// is told that a task is gone before ttlMs is over.
	spare = 10 * time.Second

	// maxRaces bounds how often an op begins anew because another one was first.
	maxRaces = 32
)

// entry is a record as it stands.
type entry struct {
	task.Task
	version uint64
}

// records keeps tasks in the store. Each change is one Transition, stored by
// compare-and-swap.
type records struct {
	store store
	keys  *seal.Keyring // seals credentials if its secret was given
}

func taskKey(id string) string          { return "upgrade:{" + id + "}" }
func callKey(id string) string          { return taskKey(id) + ":call" }
func outcomeKey(id, name string) string { return taskKey(id) + ":out:" + name }

// get returns the record of a task.
func (r records) get(ctx context.Context, id string) (entry, error) {
	record, err := r.store.Get(ctx, taskKey(id))
	if errors.Is(err, storage.ErrNotFound) {
		return entry{}, ErrUnknown
	}
	if err != nil {
		return entry{}, fmt.Errorf("upgrade: reading a task: %w", err)
	}
	return parse(record)
}

func parse(record storage.Record) (entry, error) {
	t, err := task.Decode(record.Value)
	return entry{t, record.Version}, err
}

// create stores a new task for life. One that stands already was stored by an attempt
// whose answer was lost.
func (r records) create(ctx context.Context, t task.Task, life time.Duration) (entry, error) {
	record, _, err := r.store.PutIfAbsent(ctx, taskKey(t.ID), t.Encode(), life+spare)
	if err != nil {
		return entry{}, fmt.Errorf("upgrade: storing a task: %w", err)
	}
	return parse(record)
}

// apply takes a task one step further, from e on, which is what is believed to stand.
// Errors: Transition's, ErrUnknown, or one that wraps storage.ErrUnavailable; then the
// step may have been taken, and may be taken again with the same op.
func (r records) apply(ctx context.Context, e entry, op task.Op) (entry, error) {
	for range maxRaces {
		next, changed, err := task.Transition(e.Task, op)
		if err != nil || !changed {
			return e, err
		}
		record, err := r.store.Swap(ctx, taskKey(e.ID), e.version, next.Encode(), storage.KeepTTL)
		switch {
		case err == nil:
			return entry{next, record.Version}, nil
		case errors.Is(err, storage.ErrNotFound):
			return e, ErrUnknown
		case !errors.Is(err, storage.ErrConflict):
			return e, fmt.Errorf("upgrade: storing a task: %w", err)
		}
		if e, err = parse(record); err != nil {
			return e, err
		}
	}
	return e, fmt.Errorf("upgrade: storing a task: %w: others were first again and again", storage.ErrUnavailable)
}

// replace puts t in the place of the record that stands at version: what a store has
// fallen back to is not what was.
func (r records) replace(ctx context.Context, t task.Task, version uint64) (entry, error) {
	record, err := r.store.Swap(ctx, taskKey(t.ID), version, t.Encode(), storage.KeepTTL)
	if err != nil {
		return entry{}, fmt.Errorf("upgrade: putting a task back: %w", err)
	}
	return entry{t, record.Version}, nil
}

// forget forgets a task that nobody knows of.
func (r records) forget(ctx context.Context, id string) error {
	return errors.Join(r.store.Delete(ctx, taskKey(id)), storage.DeleteBlob(ctx, r.store, callKey(id)))
}

// keepOutcome stores what a call returned, before the op that names it.
func (r records) keepOutcome(ctx context.Context, id, name string, outcome []byte, life time.Duration) error {
	if err := storage.PutBlob(ctx, r.store, outcomeKey(id, name), outcome, max(life, 0)+spare); err != nil {
		return fmt.Errorf("upgrade: storing an outcome: %w", err)
	}
	return nil
}

// outcome returns what a call returned.
func (r records) outcome(ctx context.Context, id, name string) ([]byte, error) {
	outcome, err := storage.GetBlob(ctx, r.store, outcomeKey(id, name))
	if errors.Is(err, storage.ErrNotFound) {
		return nil, ErrUnknown
	}
	if err != nil {
		return nil, fmt.Errorf("upgrade: reading an outcome: %w", err)
	}
	return outcome, nil
}

func (r records) dropOutcome(ctx context.Context, id, name string) {
	_ = storage.DeleteBlob(ctx, r.store, outcomeKey(id, name)) // what stays expires
}
