package redis

import (
	"context"

	"berth/internal/storage/engine"
)

func (r *single) Get(ctx context.Context, key string) (engine.Record, error) {
	return get(ctx, r, key, nil)
}

func (r *single) GetInto(ctx context.Context, key, room []byte) (engine.Record, error) {
	return get(ctx, r, key, room)
}

func get[K string | []byte](ctx context.Context, r *single, key K, room []byte) (record engine.Record, err error) {
	p := passengers.Get().(*passenger)
	p.request = named(p.request.begin(2).text("get"), r.prefix, key)
	if err = r.carry(ctx, engine.OpGet, 0, p); err == nil {
		record, err = p.answer.record(room)
	}
	p.letGo()
	if err == engine.ErrNotFound {
		return engine.Record{}, err
	}
	return record, r.fail(ctx, engine.OpGet, err)
}

// record is the answer as the record that it is. Its value lies in room, if it fits.
func (a *response) record(room []byte) (engine.Record, error) {
	switch p := a.parts[0]; {
	case a.array || p.kind != '$' && p.kind != none:
		return engine.Record{}, errMalformed
	case p.kind == none:
		return engine.Record{}, engine.ErrNotFound
	}
	return decode(append(room[:0], a.of(0)...))
}
