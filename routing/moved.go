package routing

import (
	"context"
	"errors"

	"berth/sticky"
)

// followTask leads a call about d.Task, in a session that has moved, to where the
// task was made: the upstream that the session moved to does not know it, and would
// say so for good. A task that the map does not know stays with the session.
func (r *Router) followTask(ctx context.Context, q Query, d *Decision) error {
	if d.TaskBinding.Upstream == "" {
		own, _, err := r.Bindings.Lookup(ctx, d.Task)
		if errors.Is(err, sticky.ErrUnknown) {
			return nil
		}
		if err != nil {
			return denied(sticky.Task, err)
		}
		d.TaskBinding = own
	}
	switch own := d.TaskBinding; {
	case own.SameOwner(d.Binding):
		return nil
	case len(q.Calls) > 1:
		return ErrSeveralOwners
	default:
		d.Owner, d.Alias = r.Pool.Find(own.Upstream), own.Alias
	}
	if d.Owner == nil {
		return ErrOwnerGone
	}
	return nil
}
