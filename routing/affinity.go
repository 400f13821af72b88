package routing

import (
	"context"

	"berth/internal/mcp"
	"berth/sticky"
)

// Affinity is a value that keeps the calls which carry it at one upstream.
type Affinity struct {
	Key     sticky.Key     // of the value
	Binding sticky.Binding // zero while nobody is known to hold what the value names
}

// IsKeptTogether reports whether the owner is a request's for the sake of a value that it
// carries.
func (d *Decision) IsKeptTogether() bool {
	return d.Owner != nil && d.Key.Kind == sticky.Affinity
}

// LeaveOwner makes unbound work of a request whose owner is lost, and returns who that was: another
// instance says in its server's own words that it does not know the handle, which a model can act on.
func (d *Decision) LeaveOwner() (left string) {
	left = d.Owner.Name
	d.Owner, d.Source = nil, SourcePicked
	return left
}

// byAffinity looks up the values that the request carries and sets the owner of d: of
// several that are bound the first counts. A store that is away binds nothing: a call
// must not fail for a value that may be new.
func (r *Router) byAffinity(ctx context.Context, q *Query, d *Decision) {
	for _, value := range q.Affinity {
		a := Affinity{Key: r.AffinityKey(q.Principal, value)}
		source, _ := q.Trail.Look(ctx, r.Bindings, &a.Key, &a.Binding)
		if d.Owner == nil {
			if d.Owner = r.bound(ctx, q, &a.Binding); d.Owner != nil {
				d.Source, d.Key, d.Binding = source, a.Key, a.Binding
			}
		}
		d.Affinities = append(d.Affinities, a)
	}
}

// bound is the owner that a binding names, which may have joined the pool where others look; nil: it names none, or one that is gone.
func (r *Router) bound(ctx context.Context, q *Query, b *sticky.Binding) *Upstream {
	if b.Upstream == "" {
		return nil
	}
	return r.owner(ctx, q.Trail, b.Upstream)
}

// AffinityKey returns the key of a value, which says itself what it is a value of.
func (r *Router) AffinityKey(principal, value string) sticky.Key {
	return r.key(sticky.Affinity, principal, value)
}

// preferred returns the name of the upstream that issued the call's requestState or cursor.
func (r *Router) preferred(ctx context.Context, q *Query) string {
	c := &q.Calls[0]
	hint := HintID(c.Method, c.RequestState, c.Cursor)
	if hint == "" {
		return ""
	}
	key := r.key(sticky.Hint, q.Principal, hint)
	var binding sticky.Binding
	_, _ = q.Trail.Look(ctx, r.Bindings, &key, &binding) // none is nobody's
	if c.RequestState != "" {                            // which others may know nothing of
		_ = r.bound(ctx, q, &binding)
	}
	return binding.Upstream
}

// HintID names a requestState or, failing that, a list's cursor; "" if there is
// neither. A list of tasks needs no hint: its session has an owner, and without one
// its cursor says where it goes on.
func HintID(method, requestState, cursor string) string {
	switch {
	case requestState != "":
		return "state\x00" + requestState
	case cursor != "" && method != mcp.MethodListTasks:
		return method + "\x00" + cursor
	}
	return ""
}

// HintKey returns the key of a cursor or requestState of this pool.
func (r *Router) HintKey(principal, hint string) sticky.Key {
	return r.key(sticky.Hint, principal, hint)
}
