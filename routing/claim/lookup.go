package claim

import (
	"context"

	"berth/routing/trail"
	"berth/sticky"
)

// LookUp looks a task or session up as sticky.Bindings.Lookup does. Where a client made the id,
// or the fleet was asked for it, its binding counts only while no other principal has a claim
// to it: a server may have given the same id to somebody else since.
func (g *Guard) LookUp(ctx context.Context, key sticky.Key) (binding sticky.Binding, source sticky.Source, err error) {
	source, err = g.LookUpInto(ctx, nil, &key, &binding)
	return binding, source, err
}

// LookUpInto is LookUp into what the caller has, for a trail or nil; the zero binding with an error.
func (g *Guard) LookUpInto(ctx context.Context, t *trail.Trail, key *sticky.Key, into *sticky.Binding) (sticky.Source, error) {
	source, err := t.Look(ctx, g.Bindings, key, into)
	if err != nil || !into.ClientMade() && !into.Asked {
		return source, err
	}
	foreign, err := g.IsForeign(ctx, t, *key)
	if err == nil && foreign {
		err = sticky.ErrUnknown
	}
	if err != nil {
		*into = sticky.Binding{}
		return "", err
	}
	return source, nil
}
