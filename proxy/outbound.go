package proxy

import (
	"net/url"

	"berth/internal/exchange"
	"berth/proxy/outbound"
	"berth/routing"
)

// newUpstreamRequest makes the request that goes to u. body nil means none.
func (x *request) newUpstreamRequest(u *routing.Upstream, method string, target *url.URL, body []byte) *exchange.Request {
	return outbound.Outgoing(method, target, x.Endpoint.HostFor(u, x.HTTP.Host), x.outboundHeaders(), body)
}

// endpointURL is u's MCP endpoint with the client's query.
func (x *request) endpointURL(u *routing.Upstream) *url.URL {
	target := *u.URL
	target.RawQuery = x.HTTP.URL.RawQuery
	return &target
}
