package identity

import "berth/internal/wire"

// Header identifies callers by a header that a trusted peer sets.
type Header string

// What Header refuses.
var (
	errLongHeader = forbidden("the name in the header of the proxy in front is too long")
	errHeaderText = forbidden("the name in the header of the proxy in front is not UTF-8")
)

// Identify returns the header's value, if a trusted peer sent exactly one; everybody else is
// nobody. One that is too long, or no text, is refused with 403.
func (h Header) Identify(r *wire.Request, trusted bool) (string, error) {
	if !trusted {
		return "", nil
	}
	value, n := r.Header.First(wire.CanonicalName(string(h)))
	switch {
	case n != 1:
		return "", nil
	case len(value) > maxPrincipal:
		return "", errLongHeader
	case !isText(value):
		return "", errHeaderText
	}
	return value, nil
}

// Header returns the header's name.
func (h Header) Header() string { return string(h) }
