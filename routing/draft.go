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
	source, err := r.lookUp(ctx, q.Trail, &key, &binding)
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
	foreign, err := r.isForeign(ctx, q.Trail, key)
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
	source, err := r.lookUp(ctx, q.Trail, &key, &binding)
	if owner := r.Pool.Find(binding.Upstream); err == nil && owner != nil {
		d.found(owner, source, key, &binding)
	}
}

// LookUp looks a task or session up as sticky.Bindings.Lookup does. Where a client made the id,
// or the fleet was asked for it, its binding counts only while no other principal has a claim
// to it: a server may have given the same id to somebody else since.
func (r *Router) LookUp(ctx context.Context, key sticky.Key) (binding sticky.Binding, source sticky.Source, err error) {
	source, err = r.lookUp(ctx, nil, &key, &binding)
	return binding, source, err
}

// lookUp is LookUp into what the caller has; the zero binding with an error.
func (r *Router) lookUp(ctx context.Context, t *Trail, key *sticky.Key, into *sticky.Binding) (sticky.Source, error) {
	source, err := r.binding(ctx, t, key, into)
	if err != nil || !into.ClientMade() && !into.Asked {
		return source, err
	}
	foreign, err := r.isForeign(ctx, t, *key)
	if err == nil && foreign {
		err = sticky.ErrUnknown
	}
	if err != nil {
		*into = sticky.Binding{}
		return "", err
	}
	return source, nil
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
		err = r.rebindNew(ctx, key, from.Name, binding)
	}
	switch foreign, err := r.isForeign(ctx, nil, key); {
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

// KeepNew prolongs what BindNew bound, while the request is under way. What is provisional
// no more, or another's by now, stays as it is.
func (r *Router) KeepNew(ctx context.Context, key sticky.Key, binding sticky.Binding) {
	_ = r.rebindNew(ctx, key, binding.Upstream, binding)
}

func (r *Router) rebindNew(ctx context.Context, key sticky.Key, from string, binding sticky.Binding) error {
	return r.guarded(key, binding, func(key sticky.Key, binding sticky.Binding) error {
		return r.Bindings.RebindProvisional(ctx, key, from, binding)
	})
}

// ReleaseNew gives up what BindNew bound to binding.Upstream for binding.Maker, and the
// claim to it, unless the owner has told of the task.
func (r *Router) ReleaseNew(ctx context.Context, key sticky.Key, binding sticky.Binding) {
	r.Bindings.ReleaseProvisional(ctx, key, binding.Upstream, binding.Maker)
	if r.claims(key.Kind) {
		r.Bindings.ReleaseProvisional(ctx, key.Claim(), binding.Upstream, binding.Maker)
	}
}

// Confirm binds a task whose id the client made for good, before anybody hears what its owner
// has just told of it. It fails with ErrUnknownTask if the task is another principal's.
func (r *Router) Confirm(ctx context.Context, key sticky.Key, binding sticky.Binding, status string) error {
	const submitted = "submitted" // SEP-1686, 4.3: what every task begins with
	binding.Dialect, binding.Status, binding.Maker = mcp.DialectDraft.String(), cmp.Or(status, submitted), ""
	_ = r.Bind(ctx, key, binding, 0) // whoever owns it by a server's word stands
	if foreign, err := r.isForeign(ctx, nil, key); err == nil && foreign {
		return ErrUnknownTask
	}
	return nil
}
