package sticky

import (
	"context"
	"errors"
	"time"

	"berth/internal/storage"
)

// ErrMoved says that a session was moved meanwhile, to another owner than one's own.
var ErrMoved = errors.New("sticky: moved by another")

// move makes to the owner of a session, if from still is.
func (r *rebinder) move(ctx context.Context, key Key, from, to Binding) (Binding, error) {
	to.Principal, to.Session, to.Made = key.Principal, from.Session, from.Made
	now := time.Now()
	to.Expires = now.Add(r.terms.sessionIdle)
	to.Until = r.terms.countedUntil(Session, &to, 0, now)
	stands, moved := to, entry{key: key, binding: to}
	r.rolls.add(ctx, moved) // first: whoever dies in between leaves one too many
	unlessMoved := func(standing Binding) (Binding, error) {
		if standing.SameOwner(from) {
			return to, nil
		}
		stands = standing
		return Binding{}, ErrMoved
	}
	err := r.records.exchange(ctx, key, r.terms.sessionIdle, unlessMoved)
	if errors.Is(err, storage.ErrUnavailable) { // it may have happened
		err = r.records.exchange(ctx, key, r.terms.sessionIdle, unlessMoved)
	}
	if errors.Is(err, ErrMoved) && stands.SameOwner(to) {
		err = nil
	}
	switch {
	case err == nil && from.Upstream != to.Upstream:
		r.rolls.remove(ctx, key, from.Upstream)
	case err != nil && (stands.Upstream != to.Upstream || errors.Is(err, ErrUnknown)) && from.Upstream != to.Upstream:
		r.rolls.remove(ctx, key, to.Upstream)
	}
	if err != nil && !errors.Is(err, ErrMoved) {
		return Binding{}, err
	}
	r.local.add(&entry{key: key, binding: stands})
	return stands, err
}
