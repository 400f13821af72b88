package ledger

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"berth/internal/storage"
)

// Pending are steps about which the store did not say whether they were taken: by which this
// process may have made or taken over a task, or forgotten one. Until one is taken again the
// task is nobody else's to decide about: that it is listed and not held makes it no orphan.
type Pending struct {
	mu    sync.Mutex // guards the field below
	steps map[string]func(ctx context.Context) error
}

func newPending() *Pending { return &Pending{steps: map[string]func(context.Context) error{}} }

// Keep has a step be taken again.
func (u *Pending) Keep(id string, step func(ctx context.Context) error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.steps[id] = step
}

// Full reports whether no more tasks are to be begun of which nobody may know: each keeps
// its call.
func (u *Pending) Full() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.steps) >= MaxBacklog
}

// All are the tasks of the steps.
func (u *Pending) All() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Collect(maps.Keys(u.steps))
}

// Has reports whether a step of a task is to be taken again.
func (u *Pending) Has(id string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.steps[id] != nil
}

// Settle takes the step again that is not known to have been taken, if there is one. The
// caller has claimed the task, unless it is to be forgotten. It fails while nobody can say.
func (u *Pending) Settle(ctx context.Context, id string) error {
	u.mu.Lock()
	step := u.steps[id]
	u.mu.Unlock()
	if step == nil {
		return nil
	}
	err := step(ctx)
	if errors.Is(err, storage.ErrUnavailable) || ctx.Err() != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.steps, id)
	return nil
}
