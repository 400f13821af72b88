package routing

import (
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/sticky"
)

// bySession: on legacy calls the session decides alone. With principals a task
// must be the caller's own besides, or the session would be a way around.
func (r *Router) bySession(ctx context.Context, q *Query, d *Decision) error {
	if err := r.inUse(ctx, q, d); err != nil {
		return err
	}
	d.Alias, q.home = d.Binding.Alias, home{d.Binding.Upstream, d.Binding.Alias}
	if r.Principals && subscribes(q.Calls) && q.Trail == nil {
		if err := r.narrow(ctx, q, d); err != nil {
			return err
		}
	}
	for i := range q.Calls {
		if err := r.inSession(ctx, q, &q.Calls[i], d); err != nil {
			return err
		}
	}
	return nil
}

// inUse sets the owner of the session of q, and notes that it is in use.
func (r *Router) inUse(ctx context.Context, q *Query, d *Decision) error {
	key := r.SessionKey(q.Principal, q.Session)
	err := r.byOwner(ctx, q, key, nil, d)
	if err == nil && q.Trail == nil {
		r.Touch(key, d.Binding)
	}
	return err
}

// narrow has a subscription name no tasks but the caller's own.
func (r *Router) narrow(ctx context.Context, q *Query, d *Decision) error {
	own, err := r.Audience(ctx, *q)
	if err != nil {
		return err
	}
	for _, task := range own.Tasks {
		d.ListenIDs = append(d.ListenIDs, task.ID)
	}
	d.Narrow = true
	return nil
}

// inSession adds to d what one call of a session is about.
func (r *Router) inSession(ctx context.Context, q *Query, call *mcp.Call, d *Decision) error {
	if call.MakesTask() {
		key, err := r.newTaskKey(ctx, q, call)
		if err != nil {
			return err
		}
		d.Made = append(d.Made, key)
	}
	if !call.IsTask() {
		return nil
	}
	d.Task = r.key(sticky.Task, q.Principal, call.TaskID)
	if r.Principals {
		var own Decision
		if err := r.byTask(ctx, q, call, &own); err != nil {
			return err
		}
		d.beside = &own.Binding
	}
	if d.Binding.Alias == "" && d.Binding.Kept.IsZero() {
		return nil
	}
	return r.followTask(ctx, q, d)
}

func initializes(calls []mcp.Call) bool {
	return len(calls) == 1 && calls[0].Method == mcp.MethodInitialize
}

func subscribes(calls []mcp.Call) bool {
	return len(calls) == 1 && calls[0].Method == mcp.MethodListen
}

// followTask leads a call about d.Task to where the task was made: the upstream of a session that has moved since, or that was begun
// later, does not know it, and would say so for good. What the map does not know stays with the session, and so does
// what was made in another session at the session's upstream.
func (r *Router) followTask(ctx context.Context, q *Query, d *Decision) error {
	moved := d.Binding.Alias != ""
	if d.TaskBinding().Upstream == "" {
		own := new(sticky.Binding)
		_, err := r.LookUpInto(ctx, q.Trail, &d.Task, own)
		switch {
		case errors.Is(err, sticky.ErrUnknown):
			return nil
		case err != nil && !moved:
			d.Unasked = err
			return nil
		case err != nil:
			return denied(sticky.Task, err)
		}
		d.beside = own
	}
	own := d.TaskBinding()
	if own.SameOwner(d.Binding) || len(q.Calls) > 1 && !moved {
		return nil
	}
	madeHere := own.Session == seal.Digest(q.Session) || own.Session == "" && moved
	switch {
	case own.Upstream == d.Binding.Upstream && !madeHere:
		return nil
	case len(q.Calls) > 1:
		return ErrSeveralOwners
	}
	d.Owner = r.owner(ctx, q.Trail, own.Upstream)
	if d.Owner == nil {
		return ErrOwnerGone
	}
	if d.Visits = !madeHere; madeHere {
		d.Alias = own.Alias
	}
	return nil
}

// FindSession notes that the session of q is in use, by a request that is not routed by it,
// and looks for it as for one that is. Errors: as of Decide.
func (r *Router) FindSession(ctx context.Context, q Query) error {
	var d Decision
	return r.inUse(ctx, &q, &d)
}

// UseSession notes that a session is in use, by a request that is not routed by it, and
// returns its binding. Errors: sticky.ErrUnknown, or one that wraps
// storage.ErrUnavailable or ctx's.
func (r *Router) UseSession(ctx context.Context, principal, session string) (sticky.Binding, error) {
	key := r.SessionKey(principal, session)
	binding, _, err := r.Bindings.Lookup(ctx, key)
	if err == nil {
		r.Touch(key, binding)
	}
	return binding, err
}
