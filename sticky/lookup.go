package sticky

import (
	"context"
	"errors"

	"berth/internal/storage"
	"berth/sticky/binding"
)

// finder looks bindings up: in this process, and then in the store.
type finder struct {
	local   *local
	records *records
	reads   sharedReads
}

// lookup is LookupInto without its count; one that only peeks leaves the cache as it is.
func (f *finder) lookup(ctx context.Context, key *Key, peeks bool, into *Binding) (Source, error) {
	if f.local.pending.find(key, into) {
		return SourceBound, nil
	}
	ok := f.local.near.Look(key, peeks, into)
	if ok && !into.MayYield(key.Kind) {
		return f.source(SourceLRU), nil
	}
	err := f.fetch(ctx, key, peeks, into)
	if ok && errors.Is(err, storage.ErrUnavailable) {
		return f.source(SourceLRU), nil
	}
	if err != nil {
		*into = Binding{}
		return "", err
	}
	return f.source(SourceStore), nil
}

// fetch asks the store. With an error into stays as it is.
func (f *finder) fetch(ctx context.Context, key *Key, peeks bool, into *Binding) error {
	if peeks {
		of := key.Sum()
		_, _, err := f.records.binding(ctx, key, &of, into)
		return err
	}
	return f.load(ctx, key, into)
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
func (f *finder) load(ctx context.Context, key *Key, into *Binding) error {
	if !f.records.store.Durable() {
		err := f.read(ctx, key, into)
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return err
	}
	return f.reads.do(ctx, key, into, f)
}

// read is what the store has, whatever the near cache says.
func (f *finder) read(ctx context.Context, key *Key, into *Binding) error {
	of := key.Sum()
	return f.readAs(ctx, key, &of, into)
}

// readAs is read of a key that has that sum.
func (f *finder) readAs(ctx context.Context, key *Key, of *binding.Sum, into *Binding) error {
	k, fits, err := f.records.binding(ctx, key, of, into)
	switch {
	case err != nil:
		return err
	case fits:
		f.local.near.Keep(key, &k)
	default:
		f.local.near.Remove(*key)
	}
	return nil
}

// find is Find.
func (f *finder) find(ctx context.Context, pool, id string) (key Key, binding Binding, err error) {
	key = Key{Kind: Task, Pool: pool, ID: id}
	if err = f.latest(ctx, &key, &binding); !errors.Is(err, ErrUnknown) {
		return key, binding, err
	}
	claim := key.Claim()
	if _, err = f.lookup(ctx, &claim, true, &binding); err != nil {
		return Key{}, Binding{}, err
	}
	key.Principal = binding.Principal
	err = f.latest(ctx, &key, &binding)
	return key, binding, err
}
