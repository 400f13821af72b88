package storage

import (
	"context"
	"errors"
	"time"

	"berth/internal/storage/engine"
	"berth/internal/storage/redis"
)

// TakeRate counts that something is done n times, all or none, for all processes that share the store,
// by its clock (GCRA). It returns 0, or when there is room: for more than a burst, when nothing of it is
// used, and the rest is owed. What is not shared has no rates: errors.ErrUnsupported.
func (s *Store) TakeRate(ctx context.Context, key string, rate Rate, n int) (wait time.Duration, err error) {
	return s.rate(ctx, redis.RateKey(key, rate), func(ctx context.Context, shared engine.Rater) (time.Duration, error) {
		return shared.TakeRate(ctx, key, rate, n)
	})
}

// RateWait is TakeRate that counts nothing.
func (s *Store) RateWait(ctx context.Context, key string, rate Rate, n int) (wait time.Duration, err error) {
	return s.rate(ctx, redis.RateKey(key, rate), func(ctx context.Context, shared engine.Rater) (time.Duration, error) {
		return shared.RateWait(ctx, key, rate, n)
	})
}

func (s *Store) rate(ctx context.Context, at string, ask func(ctx context.Context, shared engine.Rater) (time.Duration, error)) (wait time.Duration, err error) {
	shared, ok := s.engine.(engine.Rater)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	err = s.do(ctx, engine.OpRate, s.part(at), func(ctx context.Context) (err error) {
		wait, err = ask(ctx, shared)
		return err
	})
	return wait, err
}
