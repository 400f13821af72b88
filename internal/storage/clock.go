package storage

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

const clockKey = "clock"

var clockProgram = newProgram("return redis.call('TIME')")

// Now implements Engine. A cluster's nodes have a clock each: it is always the same one
// that is asked.
func (r *redisEngine) Now(ctx context.Context) (time.Time, error) {
	bounded, cancel := context.WithTimeout(ctx, r.bound)
	defer cancel()
	var clock *redis.TimeCmd
	err := clockProgram.run(func(by, program string) error {
		clock = redis.NewTimeCmd(bounded, by, program, 1, r.prefix+clockKey)
		return r.client.Process(bounded, once{clock})
	})
	return clock.Val(), r.fail(ctx, opNow, err)
}

// Now implements Engine.
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	err = s.do(ctx, opNow, s.part(clockKey), func(ctx context.Context) (err error) {
		now, err = s.engine.Now(ctx)
		return err
	})
	return now, err
}
