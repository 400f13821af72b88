package ledger

import (
	"context"
	"errors"
	"sync"

	"berth/internal/storage"
	"berth/upgrade/task"
)

// MaxBacklog bounds what waits for the store. More than that is left to
// expire.
const MaxBacklog = 10_000

// Backlog is what has to be done once the store takes it again.
type Backlog struct {
	mu   sync.Mutex // guards jobs
	jobs []func(ctx context.Context) error
}

func newBacklog() *Backlog { return &Backlog{} }

// Add has a job be done once the store takes it.
func (b *Backlog) Add(job func(ctx context.Context) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.jobs) < MaxBacklog {
		b.jobs = append(b.jobs, job)
	}
}

// Do does a job now, or else once the store takes it.
func (b *Backlog) Do(ctx context.Context, job func(ctx context.Context) error) {
	if job(ctx) != nil {
		b.Add(job)
	}
}

// Work does what waits, until the store refuses. What it refuses goes to the end: one job
// must not keep the others from being done.
func (b *Backlog) Work(ctx context.Context) {
	b.mu.Lock()
	jobs := b.jobs
	b.jobs = nil
	b.mu.Unlock()
	for i, job := range jobs {
		if err := job(ctx); errors.Is(err, storage.ErrUnavailable) || ctx.Err() != nil {
			b.mu.Lock()
			b.jobs = append(append(b.jobs, jobs[i+1:]...), job)
			b.mu.Unlock()
			return
		}
	}
}

// LeaveLine takes the call of a task, which stands in its line under that name, out of it as soon as the store
// takes that.
func (l *Ledger) LeaveLine(ctx context.Context, t *task.Task, name string) {
	l.Backlog.Do(ctx, func(ctx context.Context) error { return l.Queues.RemoveAs(ctx, t, name) })
}

// FreeSlot gives a place back, as soon as the store takes it.
func (l *Ledger) FreeSlot(ctx context.Context, list, name string) {
	l.Backlog.Do(ctx, func(ctx context.Context) error { return l.Store.RemoveMember(ctx, list, name) })
}
