package limit

import (
	"context"
	"time"
)

// RateStore is where processes share a rate.
type RateStore interface {
	// Take counts that something is done n times, all or none, and returns 0 or when there is room.
	// It fails where nothing is shared, or cannot be for now.
	Take(ctx context.Context, key string, n int) (wait time.Duration, err error)
	// Wait is Take that counts nothing.
	Wait(ctx context.Context, key string, n int) (wait time.Duration, err error)
}

// Shared bounds a rate for each subject over all processes that share a store, and in this one alone
// where that is away or there is none. Its methods may be called concurrently.
type Shared struct {
	Name  string
	store RateStore // nil: this process is alone
	local *Buckets
}

// NewShared returns a rate of perSecond, and burst at once.
func NewShared(name string, perSecond float64, burst int, store RateStore) *Shared {
	return &Shared{Name: name, store: store, local: NewBucketsOf(perSecond, burst)}
}

// Take counts that a subject does something n times, all or none, and returns 0 or when there is
// room. alone says that a store was to be asked and could not be: each process allows the rate then.
func (s *Shared) Take(ctx context.Context, subject string, n int) (wait time.Duration, alone bool) {
	if s.store != nil {
		wait, err := s.store.Take(ctx, s.Name+":"+subject, n)
		if err == nil {
			return wait, false
		}
	}
	return s.local.Take(subject, n), s.store != nil
}

// Wait is Take that counts nothing.
func (s *Shared) Wait(ctx context.Context, subject string, n int) (wait time.Duration, alone bool) {
	if s.store != nil {
		wait, err := s.store.Wait(ctx, s.Name+":"+subject, n)
		if err == nil {
			return wait, false
		}
	}
	return s.local.WaitFor(subject, n), s.store != nil
}
