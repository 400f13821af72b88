package redis

import (
	"context"
	"fmt"
	"time"

	"berth/internal/storage/engine"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
)

// RateKey is the key at which the library counts what is taken of key at a rate.
func RateKey(key string, rate engine.Rate) string { return "rate:" + counted(key, rate) }

func (r *single) TakeRate(ctx context.Context, key string, rate engine.Rate, n int) (wait time.Duration, err error) {
	result, err := r.allow(ctx, counted(key, rate), boundFor(rate, n), n)
	if err == nil && result.Allowed == 0 {
		wait = max(result.RetryAfter, time.Millisecond)
	}
	return wait, err
}

// RateWait counts zero times: the script writes a key that stands as it stands, and tells when nothing of its
// burst is used.
func (r *single) RateWait(ctx context.Context, key string, rate engine.Rate, n int) (time.Duration, error) {
	bound := boundFor(rate, n)
	result, err := r.allow(ctx, counted(key, rate), bound, 0)
	if err != nil {
		return 0, err
	}
	spare := float64(bound.Burst-n) * float64(bound.Period) / float64(bound.Rate) // may be more than a Duration holds
	if spare >= float64(result.ResetAfter) {
		return 0, nil
	}
	return result.ResetAfter - time.Duration(spare), nil
}

func (r *single) allow(ctx context.Context, key string, bound redis_rate.Limit, n int) (result *redis_rate.Result, err error) {
	limiter := redis_rate.NewLimiter(prefixed{r.client, r.prefix})
	err = r.ask(ctx, engine.OpRate, func(ctx context.Context) (err error) {
		result, err = limiter.AllowN(ctx, key, bound, n)
		return err
	})
	return result, err
}

// counted is where a key is counted at a rate: what is owed at one is told as a time, which says something else at another.
func counted(key string, rate engine.Rate) string {
	return fmt.Sprintf("%s:%d/%s/%d", key, rate.Count, rate.Period, rate.Burst)
}

// boundFor is the rate as the library has it. Where a burst is as long as n, there is room for n when nothing of it
// is used.
func boundFor(r engine.Rate, n int) redis_rate.Limit {
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
