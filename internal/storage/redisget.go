package storage

import (
	"context"

	"berth/internal/storage/engine"
)

func (r *redisEngine) Get(ctx context.Context, key string) (Record, error) {
	return get(ctx, r, key, nil)
}

func (r *redisEngine) GetInto(ctx context.Context, key, room []byte) (Record, error) {
	return get(ctx, r, key, room)
}

func get[K string | []byte](ctx context.Context, r *redisEngine, key K, room []byte) (record Record, err error) {
	p := passengers.Get().(*passenger)
	p.request = named(p.request.begin(2).text("get"), r.prefix, key)
	if err = r.carry(ctx, engine.OpGet, 0, p); err == nil {
		record, err = p.answer.record(room)
	}
	p.letGo()
	if err == ErrNotFound {
		return Record{}, err
	}
	return record, r.fail(ctx, engine.OpGet, err)
}

// record is the answer as the record that it is. Its value lies in room, if it fits.
func (a *response) record(room []byte) (Record, error) {
	switch p := a.parts[0]; {
	case a.array || p.kind != '$' && p.kind != none:
		return Record{}, errMalformed
	case p.kind == none:
		return Record{}, ErrNotFound
	}
	return decode(append(room[:0], a.of(0)...))
}
