package relay

import (
	"context"
	"errors"
	"sync"
	"time"

	"berth/internal/storage"
)

// maxBacklog is how much a backlog holds. What is more is left to its expiry.
const maxBacklog = 10_000

// backlog is what the store did not take: what others must be told, and what is to be removed. The
// zero value is empty.
type backlog struct {
	mu   sync.Mutex // guards the field below
	says []overdue
}

type overdue struct {
	say   func(ctx context.Context) error
	until time.Time // all has expired by then
}

// do says something, now or later.
func (b *backlog) do(ctx context.Context, say func(ctx context.Context) error) {
	if say(ctx) == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.says) < maxBacklog {
		b.says = append(b.says, overdue{say, time.Now().Add(exchangeLife)})
	}
}

// again says what is left.
func (b *backlog) again(ctx context.Context) {
	b.mu.Lock()
	says := b.says
	b.says = nil
	b.mu.Unlock()
	for i, one := range says {
		if time.Now().After(one.until) {
			continue
		}
		if err := one.say(ctx); err != nil {
			b.mu.Lock()
			b.says = append(b.says, says[i:]...)
			b.mu.Unlock()
			return
		}
	}
}

// remove removes a record, now or later.
func (m *Mailbox) remove(ctx context.Context, key string) {
	m.unsaid.do(ctx, func(ctx context.Context) error { return m.store.Delete(ctx, key) })
}

// insist repeats an operation while the store is away, for as long as that.
func insist(ctx context.Context, patience time.Duration, operation func() error) error {
	began := time.Now()
	for {
		err := operation()
		if !errors.Is(err, storage.ErrUnavailable) || time.Since(began) > patience {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(paceFirst / 2):
		}
	}
}
