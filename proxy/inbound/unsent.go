package inbound

import (
	"net/textproto"

	"berth/internal/exchange"
)

// HasUnsent reports whether upstreams may not get what tells who the caller is.
func (x *Call) HasUnsent() bool {
	return x.Principal == "" && (x.Endpoint.Authorization != nil || isCertified(x.HTTP))
}

// Unsent is what a caller without principal authenticates with that upstreams do not get: its certificate, and what stands in
// Authorization where the endpoint sends something else.
func (x *Call) Unsent() (u exchange.Unsent) {
	var all []string
	if x.Endpoint.Authorization != nil {
		u.Authorization = true
		for line := range x.HTTP.Header.Values("Authorization") {
			canonical, _ := read(textproto.TrimString(line)) // whom it names nobody verifies
			all = append(all, canonical)
		}
	}
	if isCertified(x.HTTP) {
		all = append(all, certifiedKey(x.HTTP))
	}
	u.Digest = digestOfSet(all)
	return u
}
