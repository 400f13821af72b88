package proxy

import "net/http"

// Authorization says what goes upstream in place of the caller's Authorization
// header. The zero value sends none.
type Authorization struct {
	// Value returns what the header says instead; nil: nothing. It is asked for each
	// request, by many at once.
	Value func() string
}

// authorize changes h as the endpoint wants it. What a client may ask before it is
// authorised goes without berth's own authority.
func (x *request) authorize(h http.Header) {
	rule := x.endpoint.Authorization
	if rule == nil {
		return
	}
	h.Del("Authorization")
	if rule.Value != nil && !x.opaque {
		h.Set("Authorization", rule.Value())
	}
}
