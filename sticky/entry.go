package sticky

import "berth/internal/storage"

// entry is a binding beside its place in the store.
type entry struct {
	kind    Kind
	name    string // the key's digest
	binding Binding
}

// taken reports whether another upstream stands in the store where e was to be
// written. A value that cannot be read takes nothing: it may be of a newer berth,
// so it is left there, and the fleet is asked instead.
func (e entry) taken(standing storage.Record) bool {
	binding, err := decode(standing.Value)
	return err == nil && binding.Upstream != e.binding.Upstream
}
