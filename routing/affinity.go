package routing

import (
	"context"

	"berth/sticky"
)

// Affinity is a value that keeps the calls which carry it at one upstream.
type Affinity struct {
	Key     sticky.Key     // of the value
	Binding sticky.Binding // zero while nobody is known to hold what the value names
}

// byAffinity looks up the values that the request carries and sets the owner of d: of
// several that are bound the first counts. A store that is away binds nothing: a call
// must not fail for a value that may be new.
func (r *Router) byAffinity(ctx context.Context, q *Query, d *Decision) {
	for _, value := range q.Affinity {
		a := Affinity{Key: r.AffinityKey(q.Principal, value)}
		source, _ := r.binding(ctx, q.Trail, &a.Key, &a.Binding)
		if owner := r.Pool.Find(a.Binding.Upstream); d.Owner == nil && owner != nil {
			d.Owner, d.Source, d.Key, d.Binding = owner, source, a.Key, a.Binding
		}
		d.Affinities = append(d.Affinities, a)
	}
}

// AffinityKey returns the key of a value, which says itself what it is a value of.
func (r *Router) AffinityKey(principal, value string) sticky.Key {
	return r.key(sticky.Affinity, principal, value)
}
