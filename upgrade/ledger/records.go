package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"berth/internal/seal"
	"berth/internal/storage"
	"berth/upgrade/task"
)

// ErrUnknown says that there is no such task for who asks: it never was, has expired, or
// is another's. Which of these it is must not show.
var ErrUnknown = errors.New("upgrade: unknown task")

const (
	// Spare is how much longer than its time to live a record is kept, so that no client
	// is told that a task is gone before ttlMs is over.
	Spare = 10 * time.Second

	// maxRaces bounds how often an op begins anew because another one was first.
	maxRaces = 32
)

// Entry is a record as it stands. What Task points to does not change: whoever holds an entry has what stood
// then. What comes with an error stands for no record: its task is an empty one.
type Entry struct {
	*task.Task
	Version uint64
	key     string // where it stands, if that is at hand
}

// at is where the record stands.
func (e *Entry) at() string {
	if e.key == "" {
		return TaskKey(e.ID)
	}
	return e.key
}

// NoEntry stands for no record.
func NoEntry() Entry { return Entry{Task: new(task.Task)} }

// Records keeps tasks in the store. Each change is one Transition, stored by
// compare-and-swap.
type Records struct {
	store  Store
	Keys   *seal.Keyring // seals credentials if its secret was given
	outbox *Outbox
}

// TaskKey is where a record stands, CallKey its call, OutcomeKey what that returned, asideKey what is kept beside the record until
// the call goes on.
func TaskKey(id string) string          { return keysBegin + id + "}" }
func CallKey(id string) string          { return keysBegin + id + "}:call" }
func OutcomeKey(id, name string) string { return keysBegin + id + "}:out:" + name }
func asideKey(id, name string) string   { return keysBegin + id + "}:in:" + name }

// keysBegin begins each key of a task; each is made in one piece.
const keysBegin = "upgrade:{"

// Get returns the record of a task.
func (r Records) Get(ctx context.Context, id string) (Entry, error) {
	record, err := r.store.Get(ctx, TaskKey(id))
	if errors.Is(err, storage.ErrNotFound) {
		return NoEntry(), ErrUnknown
	}
	if err != nil {
		return NoEntry(), fmt.Errorf("upgrade: reading a task: %w", err)
	}
	return parse(record)
}

// Stands reports whether the record is as e says. If nobody can say, it is not.
func (r Records) Stands(ctx context.Context, e Entry) bool {
	record, err := r.store.Get(ctx, e.at())
	return err == nil && record.Version == e.Version
}

func parse(record storage.Record) (Entry, error) {
	t, err := task.Decode(record.Value)
	if err != nil {
		t = new(task.Task)
	}
	return Entry{Task: t, Version: record.Version}, err
}

// Create stores a new task for life. One that stands already was stored by an attempt
// whose answer was lost.
func (r Records) Create(ctx context.Context, t *task.Task, life time.Duration) (Entry, error) {
	record, made, err := r.store.PutIfAbsent(ctx, TaskKey(t.ID), t.Encode(), life+Spare)
	switch {
	case err != nil:
		return NoEntry(), fmt.Errorf("upgrade: storing a task: %w", err)
	case made:
		return Entry{Task: t, Version: record.Version}, nil
	}
	return parse(record)
}

// Apply takes a task one step further, from e on, which is what is believed to stand.
// Errors: Transition's, ErrUnknown, or one that wraps storage.ErrUnavailable; then the
// step may have been taken, and may be taken again with the same op. What receivers are to be
// told of it is in the outbox first.
func (r Records) Apply(ctx context.Context, e Entry, op *task.Op) (Entry, error) {
	return r.ApplyAmid(ctx, e, op, new(Amid))
}

// Replace puts t in the place of the record that stands at version: what a store has
// fallen back to is not what was.
func (r Records) Replace(ctx context.Context, t *task.Task, version uint64) (Entry, error) {
	record, err := r.store.Swap(ctx, TaskKey(t.ID), version, t.Encode(), storage.KeepTTL)
	if err != nil {
		return NoEntry(), fmt.Errorf("upgrade: putting a task back: %w", err)
	}
	return Entry{Task: t, Version: record.Version}, nil
}

// Forget forgets a task that nobody knows of.
func (r Records) Forget(ctx context.Context, id string) error {
	return errors.Join(r.store.Delete(ctx, TaskKey(id)), storage.DeleteBlob(ctx, r.store, CallKey(id)))
}

// KeepOutcome stores what a call returned, before the op that names it.
func (r Records) KeepOutcome(ctx context.Context, id, name string, outcome []byte, life time.Duration) error {
	if err := storage.PutBlob(ctx, r.store, OutcomeKey(id, name), outcome, max(life, 0)+Spare); err != nil {
		return fmt.Errorf("upgrade: storing an outcome: %w", err)
	}
	return nil
}

// Keeping is KeepOutcome as a step, of an outcome of at most storage.StepBlob bytes.
func (r Records) Keeping(id, name string, outcome []byte, life time.Duration) storage.Step {
	return storage.PuttingBlob(r.store, OutcomeKey(id, name), outcome, max(life, 0)+Spare)
}

// Outcome returns what a call returned.
func (r Records) Outcome(ctx context.Context, id, name string) ([]byte, error) {
	outcome, err := storage.GetBlob(ctx, r.store, OutcomeKey(id, name))
	if errors.Is(err, storage.ErrNotFound) {
		return nil, ErrUnknown
	}
	if err != nil {
		return nil, fmt.Errorf("upgrade: reading an outcome: %w", err)
	}
	return outcome, nil
}

// DropOutcome removes what no record names.
func (r Records) DropOutcome(ctx context.Context, id, name string) {
	_ = storage.DeleteBlob(ctx, r.store, OutcomeKey(id, name)) // what stays expires
}

// Whole returns a task with what is kept beside its record. The error is task.ErrCallLost if the store has lost that, or wraps
// storage.ErrUnavailable.
func (r Records) Whole(ctx context.Context, t *task.Task) (*task.Task, error) {
	return t.Whole(func(name string) ([]byte, error) { return r.aside(ctx, t.ID, name) })
}

// State returns a task's requestState, wherever it is kept. Errors are those of Whole.
func (r Records) State(ctx context.Context, t *task.Task) (json.RawMessage, error) {
	return t.StateWhole(func(name string) ([]byte, error) { return r.aside(ctx, t.ID, name) })
}

func (r Records) aside(ctx context.Context, id, name string) ([]byte, error) {
	value, err := storage.GetBlob(ctx, r.store, asideKey(id, name))
	if errors.Is(err, storage.ErrNotFound) {
		return nil, task.ErrCallLost
	}
	if err != nil {
		return nil, fmt.Errorf("upgrade: reading what a task goes on with: %w", err)
	}
	return value, nil
}

// setAside stores what is to be kept beside the record of a task, before that says so.
func (r Records) setAside(ctx context.Context, t *task.Task) error {
	return t.SetAside(func(name string, value []byte) error {
		life := max(r.outbox.clock.until(t.Expires()), 0) + Spare
		if err := storage.PutBlob(ctx, r.store, asideKey(t.ID, name), value, life); err != nil {
			return fmt.Errorf("upgrade: storing what a task goes on with: %w", err)
		}
		return nil
	})
}

// dropAside removes what was kept beside the record of before, and is not beside that of after.
func (r Records) dropAside(ctx context.Context, before, after *task.Task) {
	for _, aside := range before.Asides() {
		if !slices.Contains(after.Asides(), aside) {
			_ = storage.DeleteBlob(ctx, r.store, asideKey(before.ID, aside.Name)) // what stays expires
		}
	}
}
