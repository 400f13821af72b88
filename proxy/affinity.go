package proxy

import (
	"berth/routing"
	"berth/sticky"
)

// keptTogether reports whether the owner is the request's for the sake of a value that it
// carries.
func (x *request) keptTogether() bool {
	return x.decision.Owner != nil && x.decision.Key.Kind == sticky.Affinity
}

// leaveOwner makes unbound work of a request whose owner is lost: another instance says in
// its server's own words that it does not know the handle, which a model can act on.
func (x *request) leaveOwner() {
	x.left = x.decision.Owner.Name
	x.decision.Owner, x.decision.Source = nil, routing.SourcePicked
}
