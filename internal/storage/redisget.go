package storage

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"
)

// getCall is what a record is asked for with, in one piece that is used again: once carry has returned, nobody else has
// it.
type getCall struct {
	once
	cmd  redis.StringCmd
	args [2]any
	key  text
}

var getCalls = sync.Pool{New: func() any { return new(getCall) }}

func (r *redisEngine) Get(ctx context.Context, key string) (Record, error) {
	get := getCalls.Get().(*getCall)
	get.key = append(append(get.key[:0], r.prefix...), key...)
	get.args = [2]any{"get", &get.key}
	get.cmd = *redis.NewStringCmd(context.Background(), get.args[:]...)
	get.Cmder = &get.cmd
	err := r.carry(ctx, opGet, 0, &get.once)
	value, _ := get.cmd.Bytes() // made for this answer, and nobody's but the caller's from now on
	get.cmd = redis.StringCmd{}
	getCalls.Put(get)
	// Not errors.Is: a sentinel that does not know the master says so with a Nil inside of another
	// error.
	if err == redis.Nil {
		return Record{}, ErrNotFound
	}
	if err != nil {
		return Record{}, r.fail(ctx, opGet, err)
	}
	record, err := decode(value)
	return record, r.fail(ctx, opGet, err)
}

// text is an argument whose bytes are used again.
type text []byte

// MarshalBinary implements encoding.BinaryMarshaler, as the driver writes arguments.
func (t *text) MarshalBinary() ([]byte, error) { return *t, nil }

// String is what the driver finds a key's slot by.
func (t *text) String() string { return string(*t) }
