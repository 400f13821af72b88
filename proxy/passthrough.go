package proxy

import (
	"net/url"
	"strings"

	"berth/routing"
)

// passThrough forwards what lies beside the MCP endpoint at the pool's origin,
// discovery documents and CORS preflights, to any upstream, unread. Preflights that no
// upstream answers are berth's to answer.
func (x *request) passThrough() error {
	if err := x.spareReserve(); err != nil {
		return err
	}
	x.Opaque = true
	x.ctx = x.HTTP.Context()
	x.startSpan()
	x.decision.Source = routing.SourcePicked
	err := x.forwardUnbound()
	if err != nil && x.IsPreflight() && x.out.MayAnswer() && x.ladder(err) != nil {
		x.grant()
		return nil
	}
	return err
}

// beside is the place at u's origin that the client's path means. The path of the
// MCP endpoint, itself or behind a document's name, may differ upstream.
func (x *request) beside(u *routing.Upstream) *url.URL {
	path := x.HTTP.URL.Path
	if path == x.Endpoint.Path || x.Endpoint.IsSubject(path) {
		path = strings.TrimSuffix(path, x.Endpoint.Path) + u.URL.Path
	}
	return &url.URL{Scheme: u.URL.Scheme, Host: u.URL.Host, Path: path, RawQuery: x.HTTP.URL.RawQuery}
}
