package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"

	"berth/routing"
)

// newUpstreamRequest makes the request that goes to u. body nil means none.
func (x *request) newUpstreamRequest(ctx context.Context, u *routing.Upstream, method string, target *url.URL, body []byte) *http.Request {
	return outgoing(ctx, method, target, x.endpoint.hostFor(u, x.r.Host), x.outboundHeaders(), body)
}

// outgoing makes a request with this header, which is its own from then on.
func outgoing(ctx context.Context, method string, target *url.URL, host string, header http.Header, body []byte) *http.Request {
	out := &http.Request{Method: method, URL: target, Host: host, Header: header}
	if body != nil {
		out.Body = io.NopCloser(bytes.NewReader(body))
		out.ContentLength = int64(len(body))
	}
	out.Header.Del("Content-Length")
	return out.WithContext(ctx)
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
