package upgrade

import (
	"context"
	"sync"
)

// maxBacklog bounds what waits for the store to be tidied. More than that is left to
// expire.
const maxBacklog = 10_000

// backlog is what has to be done once the store takes it again.
type backlog struct {
	mu   sync.Mutex // guards jobs
	jobs []func(ctx context.Context) error
}

func newBacklog() *backlog { return &backlog{} }

func (b *backlog) add(job func(ctx context.Context) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.jobs) < maxBacklog {
		b.jobs = append(b.jobs, job)
	}
}

// work does what waits, until the store refuses.
func (b *backlog) work(ctx context.Context) {
	b.mu.Lock()
	jobs := b.jobs
	b.jobs = nil
	b.mu.Unlock()
	for i, job := range jobs {
		if job(ctx) != nil {
			b.mu.Lock()
			b.jobs = append(b.jobs, jobs[i:]...)
			b.mu.Unlock()
			return
		}
	}
}
