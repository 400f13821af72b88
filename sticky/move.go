package sticky

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/internal/storage"
)

// ErrMoved says that a session was moved meanwhile, to another owner than one's own.
var ErrMoved = errors.New("sticky: moved by another")

// Reload returns the binding of key as the store has it, whatever the near cache
// says: a session may have been moved by another berth. The error is ErrUnknown, or
// wraps storage.ErrUnavailable or ctx's.
func (b *Bindings) Reload(ctx context.Context, key Key) (Binding, error) {
	binding, _, err := b.standing(ctx, key)
	return binding, err
}

// Move makes to the owner of the session that key names, if from still is, and
// returns the binding that stands then. Of several who move a session one wins; the
// others get its binding beside ErrMoved. Other errors are ErrUnknown, for a session
// that has ended, and those that wrap storage.ErrUnavailable or ctx's: then nobody can
// say who owns it. What this process alone knows, the store being away, is not moved.
func (b *Bindings) Move(ctx context.Context, key Key, from, to Binding) (Binding, error) {
	to.Principal = key.Principal
	to.Expires = time.Now().Add(b.options.SessionIdle)
	for range maxRevisions {
		standing, version, err := b.standing(ctx, key)
		if err != nil {
			return Binding{}, err
		}
		if !standing.SameOwner(from) {
			return standing, ErrMoved
		}
		_, err = b.store.Swap(ctx, key.digest(), version, to.encode(), b.options.SessionIdle)
		switch {
		case err == nil:
			b.near.add(entry{key.Kind, key.digest(), to})
			return to, nil
		case errors.Is(err, storage.ErrConflict):
			// A refresh came between, or another move; the next round tells.
		case errors.Is(err, storage.ErrNotFound):
			return Binding{}, ErrUnknown
		default:
			return Binding{}, fmt.Errorf("sticky: moving a session: %w", err)
		}
	}
	return Binding{}, fmt.Errorf("sticky: moving a session: %w", storage.ErrConflict)
}

// standing reads what the store has under key, and lets the near cache know.
func (b *Bindings) standing(ctx context.Context, key Key) (Binding, uint64, error) {
	name := key.digest()
	record, err := b.store.Get(ctx, name)
	if errors.Is(err, storage.ErrNotFound) {
		return Binding{}, 0, ErrUnknown
	}
	if err != nil {
		return Binding{}, 0, fmt.Errorf("sticky: look-up: %w", err)
	}
	binding, err := decode(record.Value)
	if err != nil {
		return Binding{}, 0, ErrUnknown
	}
	b.near.add(entry{key.Kind, name, binding})
	return binding, record.Version, nil
}
