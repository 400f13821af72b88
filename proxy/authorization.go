package proxy

import "berth/internal/wire"

// authorize does the same for the request's own. What a client may ask before it is
// authorised goes without berth's own authority.
func (x *request) authorize(h wire.Header) {
	x.Endpoint.Authorize(h)
	if x.Opaque && x.Endpoint.Authorization != nil {
		h.Del("Authorization")
	}
}
