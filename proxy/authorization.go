package proxy

import "berth/internal/wire"

// Authorization says what goes upstream in place of the caller's Authorization
// header. The zero value sends none.
type Authorization struct {
	// Value returns what the header says instead; nil: nothing. It is asked for each
	// request, by many at once.
	Value func() string
}

// authorize changes the headers of a request that goes upstream as the endpoint wants
// it.
func (ep *Endpoint) authorize(h wire.Header) {
	if ep.Authorization == nil {
		return
	}
	h.Del("Authorization")
	if ep.Authorization.Value != nil {
		h.Set("Authorization", ep.Authorization.Value())
	}
}

// authorize does the same for the request's own. What a client may ask before it is
// authorised goes without berth's own authority.
func (x *request) authorize(h wire.Header) {
	x.endpoint.authorize(h)
	if x.opaque && x.endpoint.Authorization != nil {
		h.Del("Authorization")
	}
}
