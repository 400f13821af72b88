package sticky

import (
	"context"
	"errors"

	"berth/internal/storage"
)

// finder looks bindings up: in this process, and then in the store.
type finder struct {
	local   *local
	records *records
	flights flights
}

// lookup is Lookup without its count; one that only peeks leaves the cache as it is.
func (f *finder) lookup(ctx context.Context, key Key, peeks bool) (binding Binding, _ Source, err error) {
	if binding, ok := f.local.pending.get(key); ok {
		return binding, SourceBound, nil
	}
	cached, ok := f.local.near.look(key, peeks)
	if ok && !cached.mayYield(key.Kind) {
		return cached, f.source(SourceLRU), nil
	}
	if peeks {
		binding, err = f.records.binding(ctx, key)
	} else {
		binding, err = f.load(ctx, key)
	}
	if ok && errors.Is(err, storage.ErrUnavailable) {
		return cached, f.source(SourceLRU), nil
	}
	if err != nil {
		return Binding{}, "", err
	}
	return binding, f.source(SourceStore), nil
}

// source is where a binding was found, as look-ups tell it: what nobody else writes to is
// this process, whether the cache or the store had it.
func (f *finder) source(of Source) Source {
	if !f.records.store.Shared() {
		return SourceBound
	}
	return of
}

// load reads the store: memory at once, another one once for all who wait for the same key.
// Such a read does not end with the one caller who happened to begin it; the store bounds it.
func (f *finder) load(ctx context.Context, key Key) (Binding, error) {
	if !f.records.store.Durable() {
		binding, err := f.read(ctx, key)
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return binding, err
	}
	return f.flights.do(ctx, key, f.read)
}

// read is what the store has, whatever the near cache says.
func (f *finder) read(ctx context.Context, key Key) (Binding, error) {
	binding, err := f.records.binding(ctx, key)
	if err == nil {
		f.local.near.add(&entry{key: key, binding: binding})
	}
	return binding, err
}

// find peeks at the binding of a task, whoever's it is.
func (f *finder) find(ctx context.Context, pool, id string) (Key, Binding, error) {
	key := Key{Kind: Task, Pool: pool, ID: id}
	binding, _, err := f.lookup(ctx, key, true)
	if !errors.Is(err, ErrUnknown) {
		return key, binding, err
	}
	claim, _, err := f.lookup(ctx, key.Claim(), true)
	if err != nil {
		return Key{}, Binding{}, err
	}
	key.Principal = claim.Principal
	binding, _, err = f.lookup(ctx, key, true)
	return key, binding, err
}
