package redis

import (
	"context"
	"fmt"
	"time"

	"berth/internal/storage/engine"

	"github.com/redis/go-redis/v9"
)

// rateScript is GCRA, and answers in how many microseconds there is room for so many, 0: there is now. Its arguments are the rate's
// period in microseconds, its count and burst, how many there are, and whether they are counted.
//
// A key says when it was written, and what was owed then, both in microseconds. A moment alone, at which nothing is owed any more, would
// be further away once the clock went back (a step, a fail-over to a server whose clock is behind).
const rateScript = `
local period, count, burst, n = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local at, owed = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%S+)$')
at, owed = tonumber(at or now), tonumber(owed or 0)
owed = math.max(owed - math.max(now - at, 0), 0)

local each = period / count
local wait = owed + (n - burst) * each
local taken = wait < 1 and ARGV[5] == '1'
if taken then
  owed = owed + n * each
end
if taken or now < at then
  redis.call('SET', KEYS[1], string.format('%.0f %.3f', now, owed), 'PX', string.format('%.0f', owed / 1000 + 1))
end
return math.ceil(math.max(wait, 0))
`

var rateProgram = newProgram(rateScript)

// RateKey is the key at which what is taken of key at a rate is counted: what is owed at one says something else at another.
func RateKey(key string, rate engine.Rate) string {
	return fmt.Sprintf("rate:%s:%d/%s/%d", key, rate.Count, rate.Period, rate.Burst)
}

func (r *single) TakeRate(ctx context.Context, key string, rate engine.Rate, n int) (time.Duration, error) {
	return r.rate(ctx, RateKey(key, rate), rate, n, 1)
}

func (r *single) RateWait(ctx context.Context, key string, rate engine.Rate, n int) (time.Duration, error) {
	return r.rate(ctx, RateKey(key, rate), rate, n, 0)
}

// rate has the script count, or not. Where n is more than a burst there is room for it when nothing of that is used.
func (r *single) rate(ctx context.Context, key string, rate engine.Rate, n, counts int) (time.Duration, error) {
	var wait *redis.IntCmd
	err := r.ask(ctx, engine.OpRate, func(ctx context.Context) error {
		return rateProgram.run(func(by, program any) error {
			wait = redis.NewIntCmd(ctx, by, program, 1, r.prefix+key, rate.Period.Microseconds(), rate.Count, max(n, rate.Burst), n, counts)
			return r.client.Process(ctx, once{wait})
		})
	})
	return time.Duration(wait.Val()) * time.Microsecond, err
}
