package routing

import (
	"cmp"
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/sticky"
)

// byNewTask routes a request that is to become a task whose id the client made. An id
// that is bound already goes to its owner, who says what it means that it comes twice.
// The fleet is not asked: an id that is new is nobody's.
func (r *Router) byNewTask(ctx context.Context, q *Query, call *mcp.Call, d *Decision) error {
	key, err := r.newTaskKey(ctx, q, call)
	if err != nil {
		return err
	}
	var binding sticky.Binding
	source, err := r.LookUpInto(ctx, q.Trail, &key, &binding)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil { // not bound; or the store is away, and it is bound locally, as all that is created
		d.Made = append(d.Made, key)
		return nil
	}
	owner := r.owner(ctx, q.Trail, binding.Upstream)
	if owner == nil {
		return ErrOwnerGone
	}
	d.found(owner, source, key, &binding)
	return nil
}

// newTaskKey is the key of a task whose id the client made. An id that is another
// principal's is refused before anybody hears of it: bound, it would lead the caller to
// the other's task.
func (r *Router) newTaskKey(ctx context.Context, q *Query, call *mcp.Call) (sticky.Key, error) {
	key := r.key(sticky.Task, q.Principal, call.NewTaskID)
	foreign, err := r.IsForeign(ctx, q.Trail, key)
	if err == nil && foreign {
		err = mcp.ErrInvalidTaskID
	}
	return key, err
}

// byRelatedTask routes a notification that belongs to a task: in the first draft a task
// is cancelled by one (SEP-1686, 4.8). It gets no answer, so one that cannot be routed is
// no error.
func (r *Router) byRelatedTask(ctx context.Context, q *Query, call *mcp.Call, d *Decision) {
	key := r.key(sticky.Task, q.Principal, call.RelatedTaskID)
	var binding sticky.Binding
	source, err := r.LookUpInto(ctx, q.Trail, &key, &binding)
	if owner := r.Pool.Find(binding.Upstream); err == nil && owner != nil {
		d.found(owner, source, key, &binding)
	}
}

// BindNew makes binding.Upstream the owner of a task whose id the client made, before that
// upstream hears of it. from is the upstream that the same request was bound to before and
// that got nothing of it; nil if there is none. It returns the owner that stands: the
// upstream that binding names, or who was first. The error says that the id is another
// principal's by now, or that nobody can say whose it is.
func (r *Router) BindNew(ctx context.Context, key sticky.Key, from *Upstream, binding sticky.Binding) (*Upstream, error) {
	var err error
	if from == nil {
		err = r.Bind(ctx, key, binding, 0)
	} else {
		err = r.RebindNew(ctx, key, from.Name, binding)
	}
	switch foreign, err := r.IsForeign(ctx, nil, key); {
	case err != nil:
		return nil, err
	case foreign:
		return nil, mcp.ErrInvalidTaskID
	}
	if errors.Is(err, sticky.ErrOwned) {
		standing, _, err := r.Bindings.Lookup(ctx, key)
		if owner := r.Pool.Find(standing.Upstream); err == nil && owner != nil {
			return owner, nil
		}
	}
	if owner := r.Pool.Owner(ctx, binding.Upstream); owner != nil {
		return owner, nil
	}
	return nil, ErrOwnerGone
}

// Confirm binds a task whose id the client made for good, before anybody hears what its owner
// has just told of it. It fails with ErrUnknownTask if the task is another principal's.
func (r *Router) Confirm(ctx context.Context, key sticky.Key, binding sticky.Binding, status string) error {
	const submitted = "submitted" // SEP-1686, 4.3: what every task begins with
	binding.Dialect, binding.Status, binding.Maker = mcp.DialectDraft.String(), cmp.Or(status, submitted), ""
	_ = r.Bind(ctx, key, binding, 0) // whoever owns it by a server's word stands
	if foreign, err := r.IsForeign(ctx, nil, key); err == nil && foreign {
		return ErrUnknownTask
	}
	return nil
}
