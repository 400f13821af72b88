package routing

import (
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/routing/claim"
	"berth/routing/trail"
	"berth/sticky"
)

// ErrWouldAsk says that the fleet would be asked for what the map does not know. It comes with what it would mean that all deny it.
var ErrWouldAsk = errors.New("routing: the fleet would be asked")

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
	source, missing := r.LookUpInto(ctx, q.Trail, &key, &d.Binding)
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
	if err := r.mayAsk(ctx, q, key, call, missing); err != nil {
		return err
	}
	foreign, err := r.IsForeign(ctx, q.Trail, key)
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

// owner is Pool.Owner; for a trail without looking for upstreams that may have joined.
func (r *Router) owner(ctx context.Context, t *trail.Trail, name string) *Upstream {
	if t == nil {
		return r.Pool.Owner(ctx, name)
	}
	u := r.Pool.Find(name)
	switch {
	case u != nil:
	case r.Pool.seek != nil:
		t.Note("discovery", "would be asked", "upstream "+name+" is not in the pool")
	default:
		t.Note("pool", "not found", "upstream "+name+" is not in the pool any more")
	}
	return u
}

// mayAsk says why the fleet is not asked for what the map is missing, if it is not. It is asked
// for a task with tasks/get, which a modern caller may not send without the extension.
func (r *Router) mayAsk(ctx context.Context, q *Query, key sticky.Key, call *mcp.Call, missing error) error {
	if call != nil && call.Era == mcp.EraModern && !call.DeclaresTasks {
		return ErrUndeclared
	}
	if r.Principals && errors.Is(missing, sticky.ErrUnknown) { // it may be another's, of whose nothing is there yet
		if err := r.Bindings.Whole(ctx, q.Trail != nil); err != nil {
			return err
		}
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
		r.Bindings.UnbindAs(ctx, key, &d.Binding)
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

// wouldAsk says what comes of asking the fleet, as far as that is known: nobody is asked.
func (r *Router) wouldAsk(q *Query, key sticky.Key, call *mcp.Call, missing error, foreign bool) error {
	switch {
	case foreign:
		q.Trail.Note("claim", "found", "the id is another principal's: whatever the fleet says, it is told as unknown")
		return denied(key.Kind, missing)
	case r.Asker.hasDenied(q.question(key, call).Key):
		q.Trail.Note("fleet", "has denied it", "a moment ago: it is not asked again yet")
		return denied(key.Kind, missing)
	}
	q.Trail.Note("fleet", "would be asked", "each upstream of the pool, whether it knows the id")
	return errors.Join(ErrWouldAsk, denied(key.Kind, missing))
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
	case gone:
		return missing
	}
	return claim.Unavailable(missing)
}
