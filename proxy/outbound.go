package proxy

import (
	"net/url"

	"berth/internal/exchange"
	"berth/internal/wire"
	"berth/routing"
)

// newUpstreamRequest makes the request that goes to u. body nil means none.
func (x *request) newUpstreamRequest(u *routing.Upstream, method string, target *url.URL, body []byte) *exchange.Request {
	return outgoing(method, target, x.Endpoint.HostFor(u, x.HTTP.Host), x.outboundHeaders(), body)
}

// outgoing makes a request with this header, which is its own from then on.
func outgoing(method string, target *url.URL, host string, header wire.Header, body []byte) *exchange.Request {
	header.Del("Content-Length")
	return &exchange.Request{Method: method, URL: target, Host: host, Header: header, Body: body}
}

// endpointURL is u's MCP endpoint with the client's query.
func (x *request) endpointURL(u *routing.Upstream) *url.URL {
	target := *u.URL
	target.RawQuery = x.HTTP.URL.RawQuery
	return &target
}
