package ledger

import (
	"context"
	"errors"
	"sync"

	"berth/internal/storage"
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
