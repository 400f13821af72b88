package upgrade

import (
	"context"
	"errors"
	"sync"

	"berth/internal/storage"
)

// unsure are steps by which this process may have made or taken over a task: the
// store did not say. Until one is taken again the task is nobody else's to decide about.
type unsure struct {
	mu    sync.Mutex // guards the field below
	steps map[string]func(ctx context.Context) error
}

func newUnsure() *unsure { return &unsure{steps: map[string]func(context.Context) error{}} }

func (u *unsure) keep(id string, step func(ctx context.Context) error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.steps) < maxBacklog {
		u.steps[id] = step
	}
}

func (u *unsure) has(id string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.steps[id] != nil
}

// settle takes the step again that is not known to have been taken, if there is one. The
// caller has claimed the task. It fails while nobody can say.
func (u *unsure) settle(ctx context.Context, id string) error {
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
