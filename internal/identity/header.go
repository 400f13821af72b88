package identity

import "berth/internal/wire"

// Header identifies callers by a header that a trusted peer sets. The header of that
// name is the principal; nobody else is believed.
type Header string

// Identify returns the header's value, if the peer is trusted and sent exactly one.
// Everybody else is nobody. It never fails.
func (h Header) Identify(r *wire.Request, trusted bool) (string, error) {
	if !trusted {
		return "", nil
	}
	values := r.Header.Values(string(h))
	if len(values) != 1 {
		return "", nil
	}
	return values[0], nil
}

// Header returns the header's name.
func (h Header) Header() string { return string(h) }
