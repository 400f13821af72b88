package proxy

import (
	"net/url"

	"berth/internal/exchange"
	"berth/internal/wire"
	"berth/routing"
)

// newUpstreamRequest makes the request that goes to u. body nil means none.
func (x *request) newUpstreamRequest(u *routing.Upstream, method string, target *url.URL, body []byte) *exchange.Request {
	return outgoing(method, target, x.endpoint.hostFor(u, x.r.Host), x.outboundHeaders(), body)
}

// outgoing makes a request with this header, which is its own from then on.
func outgoing(method string, target *url.URL, host string, header wire.Header, body []byte) *exchange.Request {
	header.Del("Content-Length")
	return &exchange.Request{Method: method, URL: target, Host: host, Header: header, Body: body}
}

// hostFor returns the Host header for u, as the pool is configured; received is the
// client's.
func (ep *Endpoint) hostFor(u *routing.Upstream, received string) string {
	switch ep.Host {
	case "", "forward":
		return received
	case "upstream":
		return u.URL.Host
	}
	return ep.Host
}

// endpointURL is u's MCP endpoint with the client's query.
func (x *request) endpointURL(u *routing.Upstream) *url.URL {
	target := *u.URL
	target.RawQuery = x.r.URL.RawQuery
	return &target
}
