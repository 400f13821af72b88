package storage

import (
	"context"
	"errors"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
)

// Rate is how often something may be done: Count times in Period, and Burst times at once.
type Rate struct {
	Count  int
	Period time.Duration
	Burst  int
}

// rater is an engine on which processes share rates.
type rater interface {
	takeRate(ctx context.Context, key string, rate Rate, n int) (time.Duration, error)
	rateWait(ctx context.Context, key string, rate Rate, n int) (time.Duration, error)
}

// TakeRate counts that something is done n times, all or none, for all processes that share the store,
// by its clock (GCRA). It returns 0, or when there is room: for more than a burst, when nothing of it is
// used, and the rest is owed. What is not shared has no rates: errors.ErrUnsupported.
func (s *Store) TakeRate(ctx context.Context, key string, rate Rate, n int) (wait time.Duration, err error) {
	return s.rate(ctx, key, func(ctx context.Context, engine rater) (time.Duration, error) {
		return engine.takeRate(ctx, key, rate, n)
	})
}

// RateWait is TakeRate that counts nothing.
func (s *Store) RateWait(ctx context.Context, key string, rate Rate, n int) (wait time.Duration, err error) {
	return s.rate(ctx, key, func(ctx context.Context, engine rater) (time.Duration, error) {
		return engine.rateWait(ctx, key, rate, n)
	})
}

func (s *Store) rate(ctx context.Context, key string, ask func(ctx context.Context, engine rater) (time.Duration, error)) (wait time.Duration, err error) {
	engine, ok := s.engine.(rater)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	err = s.do(ctx, opRate, s.part(ratePrefix+key), func(ctx context.Context) (err error) {
		wait, err = ask(ctx, engine)
		return err
	})
	return wait, err
}

// ratePrefix is what the library puts before each key.
const ratePrefix = "rate:"

func (r *redisEngine) takeRate(ctx context.Context, key string, rate Rate, n int) (wait time.Duration, err error) {
	result, err := r.allow(ctx, key, rate.boundFor(n), n)
	if err == nil && result.Allowed == 0 {
		wait = max(result.RetryAfter, time.Millisecond)
	}
	return wait, err
}

// rateWait counts zero times: the script writes a key that stands as it stands, and tells when nothing of its
// burst is used.
func (r *redisEngine) rateWait(ctx context.Context, key string, rate Rate, n int) (time.Duration, error) {
	bound := rate.boundFor(n)
	result, err := r.allow(ctx, key, bound, 0)
	if err != nil {
		return 0, err
	}
	spare := float64(bound.Burst-n) * float64(bound.Period) / float64(bound.Rate) // may be more than a Duration holds
	if spare >= float64(result.ResetAfter) {
		return 0, nil
	}
	return result.ResetAfter - time.Duration(spare), nil
}

func (r *redisEngine) allow(ctx context.Context, key string, bound redis_rate.Limit, n int) (result *redis_rate.Result, err error) {
	limiter := redis_rate.NewLimiter(prefixed{r.client, r.prefix})
	err = r.ask(ctx, opRate, func(ctx context.Context) (err error) {
		result, err = limiter.AllowN(ctx, key, bound, n)
		return err
	})
	return result, err
}

// boundFor is the rate as the library has it. Where a burst is as long as n, there is room for n when nothing of it
// is used.
func (r Rate) boundFor(n int) redis_rate.Limit {
	return redis_rate.Limit{Rate: r.Count, Period: r.Period, Burst: max(n, r.Burst)}
}

// prefixed puts the store's own prefix before the keys of scripts: what berth may touch is told by it. Each
// script of the library's has one key, so that any node of a cluster can run it.
type prefixed struct {
	redis.UniversalClient
	prefix string
}

// Eval implements redis.Scripter.
func (p prefixed) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	return p.UniversalClient.Eval(ctx, script, []string{p.prefix + keys[0]}, args...)
}

// EvalSha implements redis.Scripter.
func (p prefixed) EvalSha(ctx context.Context, digest string, keys []string, args ...any) *redis.Cmd {
	return p.UniversalClient.EvalSha(ctx, digest, []string{p.prefix + keys[0]}, args...)
}
