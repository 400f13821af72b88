package proxy

import (
	"net/url"
	pathpkg "path"
	"strings"

	"berth/internal/wire"
	"berth/routing"
)

// wellKnown is where OAuth clients look before they are authorised (RFC 8615).
const wellKnown = "/.well-known/"

// isWellKnown reports whether path lies under wellKnown, without detours: an
// upstream that resolves "..", as many do, must not be led elsewhere.
func isWellKnown(path string) bool {
	return strings.HasPrefix(path, wellKnown) && pathpkg.Clean(path) == path
}

// isSubject reports whether a well-known path is about this very endpoint: its
// path stands behind the document's name (RFC 9728, 3.1; RFC 8414, 3.1).
func (ep *Endpoint) isSubject(path string) bool {
	name, subject, found := strings.Cut(strings.TrimPrefix(path, wellKnown), "/")
	return found && name != "" && "/"+subject == ep.Path
}

// beforeAuthorization reports whether the request lies beside the MCP endpoint, where
// clients look before they have a token: a discovery document or a CORS preflight.
func (x *request) beforeAuthorization() bool {
	return x.r.Method == wire.MethodOptions || isWellKnown(x.r.URL.Path)
}

// passThrough forwards what lies beside the MCP endpoint at the pool's origin,
// discovery documents and CORS preflights, to any upstream, unread. Preflights that no
// upstream answers are berth's to answer.
func (x *request) passThrough() error {
	if err := x.spareReserve(); err != nil {
		return err
	}
	x.opaque = true
	x.ctx = x.r.Context()
	x.startSpan()
	x.decision.Source = routing.SourcePicked
	err := x.forwardUnbound()
	if err != nil && x.isPreflight() && x.mayAnswer() && x.ladder(err) != nil {
		x.grant()
		return nil
	}
	return err
}

// beside is the place at u's origin that the client's path means. The path of the
// MCP endpoint, itself or behind a document's name, may differ upstream.
func (x *request) beside(u *routing.Upstream) *url.URL {
	path := x.r.URL.Path
	if path == x.endpoint.Path || x.endpoint.isSubject(path) {
		path = strings.TrimSuffix(path, x.endpoint.Path) + u.URL.Path
	}
	return &url.URL{Scheme: u.URL.Scheme, Host: u.URL.Host, Path: path, RawQuery: x.r.URL.RawQuery}
}
