package sticky

import (
	"context"
	"errors"

	"berth/internal/mcp"
)

// latest is Latest.
func (f *finder) latest(ctx context.Context, key *Key, into *Binding) error {
	if f.local.pending.find(key, into) {
		return nil
	}
	var near Binding
	known := f.local.near.Look(key, true, &near)
	err := f.fetch(ctx, key, true, into)
	switch {
	case err == nil && known && saysMore(&near, into), err != nil && known && !errors.Is(err, ErrUnknown):
		*into = near
		return nil
	case err != nil:
		*into = Binding{}
	}
	return err
}

// saysMore reports whether this process has seen the end of a task that the store has not been told of yet.
func saysMore(near, stored *Binding) bool {
	return near.Upstream == stored.Upstream && near.Made >= stored.Made && HasEnded(near) && !HasEnded(stored)
}

// HasEnded reports whether b is of a task whose end was seen.
func HasEnded(b *Binding) bool { return (&mcp.Task{Status: b.Status}).Terminal() }
