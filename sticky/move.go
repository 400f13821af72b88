package sticky

import (
	"context"
	"errors"
	"time"
)

// ErrMoved says that a session was moved meanwhile, to another owner than one's own.
var ErrMoved = errors.New("sticky: moved by another")

// Reload returns the binding of key as the store has it, whatever the near cache
// says: a session may have been moved by another berth. The error is ErrUnknown, or
// wraps storage.ErrUnavailable or ctx's.
func (b *Bindings) Reload(ctx context.Context, key Key) (Binding, error) {
	return b.read(ctx, key)
}

// Move makes to the owner of the session that key names, if from still is, and
// returns the binding that stands then. Of several who move a session one wins; the
// others get its binding beside ErrMoved. Other errors are ErrUnknown, for a session
// that has ended, and those that wrap storage.ErrUnavailable or ctx's: then nobody can
// say who owns it. What this process alone knows, the store being away, is not moved.
func (b *Bindings) Move(ctx context.Context, key Key, from, to Binding) (Binding, error) {
	to.Principal, to.Session, to.Made = key.Principal, from.Session, from.Made
	now := time.Now()
	to.Expires = now.Add(b.options.SessionIdle)
	to.Until = b.countedUntil(Session, to, 0, now)
	stands, moved := to, entry{key: key, binding: to}
	b.listed(ctx, moved) // first: whoever dies in between leaves one too many
	err := b.exchange(ctx, key, b.options.SessionIdle, to, func(standing Binding) error {
		if standing.SameOwner(from) {
			return nil
		}
		stands = standing
		return ErrMoved
	})
	switch {
	case err == nil && from.Upstream != to.Upstream:
		b.unlist(ctx, key, from.Upstream)
	case err != nil && stands.Upstream != to.Upstream && from.Upstream != to.Upstream:
		b.unlist(ctx, key, to.Upstream)
	}
	if err != nil && !errors.Is(err, ErrMoved) {
		return Binding{}, err
	}
	b.near.add(entry{key: key, binding: stands})
	return stands, err
}
