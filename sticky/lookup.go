package sticky

import (
	"context"
	"errors"

	"berth/internal/storage"
)

// Lookup returns the binding of key and where it was found. The error is
// ErrUnknown, or wraps storage.ErrUnavailable or ctx's.
func (b *Bindings) Lookup(ctx context.Context, key Key) (Binding, Source, error) {
	binding, source, err := b.lookup(ctx, key, false)
	b.metrics.lookup(ctx, key.Kind, source, err)
	return binding, source, err
}

// Peek is Lookup for who only wants to know: nothing is counted, and the cache stays as it is.
func (b *Bindings) Peek(ctx context.Context, key Key) (Binding, Source, error) {
	return b.lookup(ctx, key, true)
}

func (b *Bindings) lookup(ctx context.Context, key Key, peeks bool) (binding Binding, _ Source, err error) {
	if binding, ok := b.pending.get(key); ok {
		return binding, SourceBound, nil
	}
	cached, ok := b.near.look(key, peeks)
	if ok && !cached.mayYield(key.Kind) {
		return cached, b.source(SourceLRU), nil
	}
	if peeks {
		binding, err = b.stored(ctx, key)
	} else {
		binding, err = b.load(ctx, key)
	}
	if ok && errors.Is(err, storage.ErrUnavailable) {
		return cached, b.source(SourceLRU), nil
	}
	if err != nil {
		return Binding{}, "", err
	}
	return binding, b.source(SourceStore), nil
}

// Shared reports whether other processes bind in the same store.
func (b *Bindings) Shared() bool { return b.store.Shared() }

// source is where a binding was found, as look-ups tell it: what nobody else writes to is
// this process, whether the cache or the store had it.
func (b *Bindings) source(of Source) Source {
	if !b.store.Shared() {
		return SourceBound
	}
	return of
}

// load reads the store: memory at once, another one once for all who wait for the same key.
// Such a read does not end with the one caller who happened to begin it; the store bounds it.
func (b *Bindings) load(ctx context.Context, key Key) (Binding, error) {
	if !b.store.Durable() {
		binding, err := b.read(ctx, key)
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return binding, err
	}
	return b.flights.do(ctx, key, b.read)
}

func (b *Bindings) read(ctx context.Context, key Key) (Binding, error) {
	binding, err := b.stored(ctx, key)
	if err == nil {
		b.near.add(entry{key: key, binding: binding})
	}
	return binding, err
}

// stored is what the store has.
func (b *Bindings) stored(ctx context.Context, key Key) (Binding, error) {
	record, err := b.get(ctx, key)
	if err != nil {
		return Binding{}, err
	}
	binding, err := decode(record.Value)
	if err != nil {
		b.log.Warn("a stored binding cannot be read", "error", err)
		return Binding{}, ErrUnknown
	}
	return binding, nil
}
