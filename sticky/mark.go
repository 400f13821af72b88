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

// mark writes a mark, whatever stands.
func (r *records) mark(ctx context.Context, key Key, mark string, life time.Duration) error {
	if err := r.store.Put(ctx, key.digest(), []byte(mark), life); err != nil {
		return fmt.Errorf("sticky: mark: %w", err)
	}
	return nil
}

// markOf reads a mark; "": there is none.
func (r *records) markOf(ctx context.Context, key Key) (string, error) {
	record, err := r.get(ctx, key)
	if errors.Is(err, ErrUnknown) {
		err = nil
	}
	return string(record.Value), err
}
