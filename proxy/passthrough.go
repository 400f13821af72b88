package proxy

import (
	"net/http"
	"net/url"
	"strings"

	"berth/routing"
)

// wellKnown is where OAuth clients look before they are authorised (RFC 8615).
const wellKnown = "/.well-known/"

// passThrough forwards what lies beside the MCP endpoint at the pool's origin,
// discovery documents and CORS preflights, to any upstream, unread.
func (x *request) passThrough() error {
	switch x.r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
	default:
		return errMethod
	}
	x.opaque = true
	x.ctx = x.r.Context()
	x.startSpan()
	x.decision.Source = routing.SourcePicked
	return x.forwardUnbound()
}

// beside is the place at u's origin that the client's path means. Documents about
// the MCP endpoint end in its path, which may differ upstream (RFC 9728, 3.1).
func (x *request) beside(u *routing.Upstream) *url.URL {
	path := x.r.URL.Path
	if rest, ok := strings.CutSuffix(path, x.endpoint.Path); ok {
		path = rest + u.URL.Path
	}
	return &url.URL{Scheme: u.URL.Scheme, Host: u.URL.Host, Path: path, RawQuery: x.r.URL.RawQuery}
}
