package routing

import (
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/sticky"
)

// byNewTask routes a request that is to become a task whose id the client made. An id
// that is bound already goes to its owner, who says what it means that it comes twice.
// The fleet is not asked: an id that is new is nobody's.
func (r *Router) byNewTask(ctx context.Context, q Query, call *mcp.Call) (Decision, error) {
	key, err := r.newTaskKey(ctx, q, call)
	if err != nil {
		return Decision{}, err
	}
	binding, source, err := r.Bindings.Lookup(ctx, key)
	if ctx.Err() != nil {
		return Decision{}, context.Cause(ctx)
	}
	if err != nil { // not bound; or the store is away, and it is bound locally, as all that is created
		return Decision{Made: []sticky.Key{key}}, nil
	}
	owner := r.Pool.Find(binding.Upstream)
	if owner == nil {
		return Decision{}, ErrOwnerGone
	}
	return Decision{Owner: owner, Source: source, Key: key, Binding: binding}, nil
}

// newTaskKey is the key of a task whose id the client made. An id that is another
// principal's is refused before anybody hears of it: bound, it would lead the caller to
// the other's task.
func (r *Router) newTaskKey(ctx context.Context, q Query, call *mcp.Call) (sticky.Key, error) {
	key := r.key(sticky.Task, q.Principal, call.NewTaskID)
	foreign, err := r.isForeign(ctx, key)
	if err == nil && foreign {
		err = mcp.ErrInvalidTaskID
	}
	return key, err
}

// byRelatedTask routes a notification that belongs to a task: in the first draft a task
// is cancelled by one (SEP-1686, 4.8). It gets no answer, so one that cannot be routed is
// no error.
func (r *Router) byRelatedTask(ctx context.Context, q Query, call *mcp.Call) Decision {
	key := r.key(sticky.Task, q.Principal, call.RelatedTaskID)
	binding, source, err := r.Bindings.Lookup(ctx, key)
	if err != nil {
		return Decision{}
	}
	return Decision{Owner: r.Pool.Find(binding.Upstream), Source: source, Key: key, Binding: binding}
}

// BindNew makes u the owner of a task whose id the client made, before u hears of it. from
// is the upstream that the same request was bound to before and that got nothing of it;
// nil if there is none. It returns the owner that stands: u, or who was first. The error
// says that the id is another principal's by now, or that nobody can say whose it is.
func (r *Router) BindNew(ctx context.Context, key sticky.Key, from, u *Upstream, session string) (*Upstream, error) {
	binding := sticky.Binding{Upstream: u.Name, Dialect: mcp.DialectDraft.String(), Session: session}
	var err error
	if from == nil {
		err = r.Bind(ctx, key, binding, 0)
	} else {
		err = r.Bindings.RebindProvisional(ctx, key, from.Name, binding)
	}
	switch foreign, err := r.isForeign(ctx, key); {
	case err != nil:
		return nil, err
	case foreign:
		return nil, mcp.ErrInvalidTaskID
	}
	if !errors.Is(err, sticky.ErrOwned) {
		return u, nil
	}
	standing, _, err := r.Bindings.Lookup(ctx, key)
	if owner := r.Pool.Find(standing.Upstream); err == nil && owner != nil {
		return owner, nil
	}
	return u, nil
}
