package sticky

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Change returns the key under which changes of what k names are marked.
func (k Key) Change() Key {
	return Key{Kind: Change, Pool: k.Pool, Principal: k.Principal, ID: string(k.Kind) + "\x00" + k.ID}
}

// Mark has every berth on the store see mark under key, for life, once it returned
// nil. The last one written counts.
func (b *Bindings) Mark(ctx context.Context, key Key, mark string, life time.Duration) error {
	if err := b.store.Put(ctx, key.digest(), []byte(mark), life); err != nil {
		return fmt.Errorf("sticky: mark: %w", err)
	}
	return nil
}

// MarkOf returns the mark that stands under key, "" if there is none. Each call asks
// the store anew: an answer from a cache, or one that was shared with a caller who
// asked before, could be older than the mark. The error wraps storage.ErrUnavailable
// or is ctx's.
func (b *Bindings) MarkOf(ctx context.Context, key Key) (string, error) {
	record, err := b.get(ctx, key)
	if errors.Is(err, ErrUnknown) {
		err = nil
	}
	return string(record.Value), err
}
