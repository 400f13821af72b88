package routing

import (
	"context"
	"errors"
	"fmt"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/sticky"
)

// byTask finds the owner of the task that a call is about. The fleet is asked for it with
// tasks/get, so a modern caller who may not send one may not ask.
func (r *Router) byTask(ctx context.Context, q Query, call *mcp.Call) (Decision, error) {
	key := r.key(sticky.Task, q.Principal, call.TaskID)
	ask := func(ctx context.Context, u *Upstream) Verdict { return q.AskTask(ctx, u, call.TaskID) }
	learned := sticky.Binding{Dialect: mcp.DialectCore.String()}
	if call.Era == mcp.EraModern {
		learned.Dialect = mcp.DialectExtension.String()
		if !call.DeclaresTasks {
			ask = nil
		}
	}
	d, err := r.owner(ctx, q, key, learned, ask)
	d.Task, d.TaskBinding = key, d.Binding
	return d, err
}

// owner looks key up and, if the map cannot tell, asks the fleet. A nil ask means
// that the caller may not ask.
func (r *Router) owner(ctx context.Context, q Query, key sticky.Key, learned sticky.Binding, ask func(context.Context, *Upstream) Verdict) (Decision, error) {
	binding, source, missing := r.LookUp(ctx, key)
	if missing == nil {
		if u := r.Pool.Find(binding.Upstream); u != nil {
			return Decision{Owner: u, Source: source, Key: key, Binding: binding}, nil
		}
		missing = ErrOwnerGone
	}
	if ctx.Err() != nil {
		return Decision{}, context.Cause(ctx)
	}
	if ask == nil {
		return Decision{}, ErrUndeclared
	}
	if q.Miss != nil && !errors.Is(missing, ErrOwnerGone) {
		if err := q.Miss(); err != nil {
			return Decision{}, err
		}
	}
	if r.Principals && !r.Recover {
		return Decision{}, denied(key.Kind, missing)
	}
	foreign, err := r.isForeign(ctx, key)
	if err != nil {
		return Decision{}, err
	}
	u, err := r.Asker.Ask(ctx, Question{Key: string(key.Kind) + "\x00" + key.Principal + "\x00" + q.Credential + "\x00" + key.ID, Caller: q.Caller, Ask: ask})
	switch {
	case errors.Is(err, ErrDenied), errors.Is(err, ErrUnclear) && errors.Is(missing, storage.ErrUnavailable):
		return Decision{}, denied(key.Kind, missing)
	case err != nil:
		return Decision{}, err
	case foreign:
		return Decision{}, denied(key.Kind, sticky.ErrUnknown)
	}
	if u.Name == q.home.Upstream {
		learned.Alias = q.home.Alias // it was asked under that name
	}
	return r.learn(ctx, key, learned, u, missing)
}

// learn binds what the fleet told. If the map knows another owner by now, that
// one counts: the first wins.
func (r *Router) learn(ctx context.Context, key sticky.Key, binding sticky.Binding, u *Upstream, missing error) (Decision, error) {
	if errors.Is(missing, ErrOwnerGone) {
		r.Bindings.Unbind(ctx, key)
	}
	binding.Upstream, binding.Asked = u.Name, true
	if err := r.Bind(ctx, key, binding, 0); errors.Is(err, sticky.ErrOwned) {
		standing, source, err := r.Bindings.Lookup(ctx, key)
		if owner := r.Pool.Find(standing.Upstream); err == nil && owner != nil {
			return Decision{Owner: owner, Source: source, Key: key, Binding: standing}, nil
		}
	}
	return Decision{Owner: u, Source: SourceAsked, Key: key, Binding: binding}, nil
}

// denied words what it means that nobody knows the id, given why the map did not:
// only a map that was asked can make it unknown.
// A session whose owner is gone is unknown too: its client can begin a new one.
func denied(kind sticky.Kind, missing error) error {
	unknown, gone := errors.Is(missing, sticky.ErrUnknown), errors.Is(missing, ErrOwnerGone)
	switch {
	case kind == sticky.Session && (unknown || gone):
		return ErrUnknownSession
	case unknown:
		return ErrUnknownTask
	case gone, errors.Is(missing, storage.ErrUnavailable):
		return missing
	}
	return fmt.Errorf("%w: %w", storage.ErrUnavailable, missing)
}
