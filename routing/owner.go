package routing

import (
	"context"
	"errors"
	"fmt"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/sticky"
)

// byTask sets the owner of the task that a call is about.
func (r *Router) byTask(ctx context.Context, q *Query, call *mcp.Call, d *Decision) error {
	key := r.key(sticky.Task, q.Principal, call.TaskID)
	if err := r.byOwner(ctx, q, key, call, d); err != nil {
		return err
	}
	d.Task = key
	return nil
}

// byOwner looks key up and, if the map cannot tell, asks the fleet. call is about the task that
// key names; nil for a session.
func (r *Router) byOwner(ctx context.Context, q *Query, key sticky.Key, call *mcp.Call, d *Decision) error {
	d.reset()
	source, missing := r.lookUp(ctx, q.Trail, &key, &d.Binding)
	if missing == nil {
		if u := r.owner(ctx, q.Trail, d.Binding.Upstream); u != nil {
			d.Owner, d.Source, d.Key = u, source, key
			d.Binding.Upstream = u.Name // not the text that only this binding has: who compares the two looks at neither
			return nil
		}
		missing = ErrOwnerGone
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := r.mayAsk(q, key, call, missing); err != nil {
		return err
	}
	foreign, err := r.isForeign(ctx, q.Trail, key)
	if err != nil {
		return err
	}
	if q.Trail != nil {
		return r.wouldAsk(q, key, call, missing, foreign)
	}
	u, err := r.Asker.Ask(ctx, q.question(key, call))
	switch {
	case errors.Is(err, ErrDenied), errors.Is(err, ErrUnclear) && errors.Is(missing, storage.ErrUnavailable):
		return denied(key.Kind, missing)
	case err != nil:
		return err
	case foreign:
		return denied(key.Kind, sticky.ErrUnknown)
	}
	r.learn(ctx, key, q.learned(u, call), u, missing, d)
	return nil
}

// mayAsk says why the fleet is not asked for what the map is missing, if it is not. It is asked
// for a task with tasks/get, which a modern caller may not send without the extension.
func (r *Router) mayAsk(q *Query, key sticky.Key, call *mcp.Call, missing error) error {
	if call != nil && call.Era == mcp.EraModern && !call.DeclaresTasks {
		return ErrUndeclared
	}
	if !errors.Is(missing, ErrOwnerGone) {
		if err := q.Inquirer.Missing(); err != nil {
			return err
		}
	}
	if r.Principals && !r.Recover {
		return denied(key.Kind, missing)
	}
	return nil
}

// question asks the fleet for what key names: the task that call is about, or the session.
func (q *Query) question(key sticky.Key, call *mcp.Call) Question {
	put := q.Inquirer.Questions()
	ask := put.Session
	if call != nil {
		ask = func(ctx context.Context, u *Upstream) Verdict { return put.Task(ctx, u, key.ID) }
	}
	return Question{Key: string(key.Kind) + "\x00" + key.Principal + "\x00" + put.Credential + "\x00" + key.ID, Caller: q.Caller, Ask: ask}
}

// learned is the binding of what the fleet says u holds: the task that call is about, or the
// session.
func (q *Query) learned(u *Upstream, call *mcp.Call) sticky.Binding {
	binding := sticky.Binding{Upstream: u.Name, Asked: true}
	switch {
	case call == nil:
		binding.Version = q.Version
	case call.Era == mcp.EraModern:
		binding.Dialect = mcp.DialectExtension.String()
	default:
		binding.Dialect = mcp.DialectCore.String()
	}
	if u.Name == q.home.upstream {
		binding.Alias = q.home.alias // it was asked under that name
	}
	return binding
}

// learn binds what the fleet told. If the map knows another owner by now, that
// one counts: the first wins.
func (r *Router) learn(ctx context.Context, key sticky.Key, binding sticky.Binding, u *Upstream, missing error, d *Decision) {
	if errors.Is(missing, ErrOwnerGone) {
		r.Bindings.Unbind(ctx, key)
	}
	d.found(u, SourceAsked, key, &binding)
	if err := r.Bind(ctx, key, binding, 0); !errors.Is(err, sticky.ErrOwned) {
		return
	}
	standing, source, err := r.Bindings.Lookup(ctx, key)
	if owner := r.Pool.Find(standing.Upstream); err == nil && owner != nil {
		d.found(owner, source, key, &standing)
	}
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
