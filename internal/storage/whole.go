package storage

import (
	"context"
	"fmt"
	"time"

	"berth/internal/storage/health"
)

// Bounds of what the store is taken to have.
const (
	// settling is how long after it was away, or refused a write, others may still be writing what they made meanwhile.
	settling = 3 * time.Second

	// vouching is how long a write that was taken tells that others' are.
	vouching = time.Second

	wholeKey = "whole"
)

// whole is what tells that a store has what others have made.
type whole struct {
	turn  chan struct{} // holds one while the field below is in use
	until time.Time     // a write was taken not long before
}

// Whole fails where others may have made what the store does not have: it was away a moment ago, or takes no writes. To find that
// out it is written to, once a second at most. The error wraps ErrUnavailable or is ctx's.
func (s *Store) Whole(ctx context.Context) error {
	if err := s.Doubted(); err != nil || !s.shared {
		return err
	}
	select {
	case s.whole.turn <- struct{}{}:
		defer func() { <-s.whole.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if time.Now().Before(s.whole.until) {
		return nil
	}
	if err := s.Doubted(); err != nil { // meanwhile
		return err
	}
	if err := s.Put(ctx, wholeKey, nil, vouching); err != nil {
		return err
	}
	s.whole.until = time.Now().Add(vouching)
	return nil
}

// Doubted is Whole by what is known already.
func (s *Store) Doubted() error {
	if !s.shared {
		return nil
	}
	return doubted(s.health.Snapshot(), s.health.Writes.Refused(), time.Now())
}

func doubted(of health.Status, refused, now time.Time) error {
	switch {
	case !of.Healthy: // one answer is no recovery yet
		return fmt.Errorf("%w: it is away", ErrUnavailable)
	case now.Sub(of.Back) < settling:
		return fmt.Errorf("%w: it was away a moment ago, or another server came in its place, and others may not have written all since", ErrUnavailable)
	case now.Sub(refused) < settling:
		return fmt.Errorf("%w: it refuses writes, and others may have made what it does not have", ErrUnavailable)
	}
	return nil
}
