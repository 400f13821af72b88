package storage

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// watchAgain and watchAgainMost bound the pause before a watcher connects anew.
const (
	watchAgain     = 50 * time.Millisecond
	watchAgainMost = time.Second
)

func (r *redisEngine) Notify(ctx context.Context, topic, message string) error {
	bounded, cancel := context.WithTimeout(ctx, r.bound)
	defer cancel()
	return r.fail(ctx, opNotify, r.publish(bounded, topic, message))
}

// publish tells message to the topic's subscribers. In a cluster any node would do; the
// one that would hold a key of that name is the one whose breaker is asked.
func (r *redisEngine) publish(ctx context.Context, topic, message string) error {
	cmd := redis.NewIntCmd(ctx, "publish", r.channel(topic), message)
	cmd.SetFirstKeyPos(1)
	return r.client.Process(ctx, once{cmd})
}

// channel is where a topic is spoken of. Databases do not separate channels; names do.
func (r *redisEngine) channel(topic string) string {
	if db := r.target.redis.DB; db != 0 {
		return r.prefix + strconv.Itoa(db) + ":" + topic
	}
	return r.prefix + topic
}

func (r *redisEngine) Watch(ctx context.Context, topic string, heard func(string)) error {
	pause := watchAgain
	for ctx.Err() == nil {
		l := r.newListener(topic, heard)
		_ = l.listen(ctx) // the probes tell of an outage
		if r.relocate != nil {
			r.relocate()
		}
		if l.subscribed {
			pause = watchAgain
			if ctx.Err() == nil {
				heard("")
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, watchAgainMost)
	}
	return nil
}
