package redis

import (
	"context"

	"berth/internal/storage/engine"

	"github.com/redis/go-redis/v9"
)

// GetSome reads by a pipeline: in a cluster, which MGET would be refused by, too.
func (r *single) GetSome(ctx context.Context, keys []string) ([]engine.Record, error) {
	found := make([]engine.Record, len(keys))
	if len(keys) == 0 {
		return found, nil
	}
	err := r.ask(ctx, engine.OpGetSome, func(ctx context.Context) error {
		gets := make([]*redis.StringCmd, len(keys))
		_, _ = r.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, key := range keys {
				gets[i] = redis.NewStringCmd(ctx, "get", r.prefix+key)
				_ = p.Process(ctx, once{gets[i]})
			}
			return nil
		}) // each says itself how it went
		for i, get := range gets {
			if get.Err() == redis.Nil {
				continue
			}
			if get.Err() != nil {
				return get.Err()
			}
			value, _ := get.Bytes()
			record, err := decode(value)
			if err != nil {
				return err
			}
			found[i] = record
		}
		return nil
	})
	return found, err
}
