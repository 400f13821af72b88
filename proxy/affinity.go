package proxy

import (
	"berth/routing"
	"berth/sticky"
)

// isKeptTogether reports whether the owner is a request's for the sake of a value that it
// carries.
func isKeptTogether(at *routing.Decision) bool {
	return at.Owner != nil && at.Key.Kind == sticky.Affinity
}

// leaveOwner makes unbound work of a request whose owner is lost, and returns who that was: another
// instance says in its server's own words that it does not know the handle, which a model can act on.
func leaveOwner(at *routing.Decision) (left string) {
	left = at.Owner.Name
	at.Owner, at.Source = nil, routing.SourcePicked
	return left
}
