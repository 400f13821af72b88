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
	out := &http.Request{
		Method: method,
		URL:    target,
		Host:   x.hostFor(u),
		Header: x.outboundHeaders(),
	}
	if body != nil {
		out.Body = io.NopCloser(bytes.NewReader(body))
		out.ContentLength = int64(len(body))
	}
	out.Header.Del("Content-Length")
	return out.WithContext(ctx)
}

// hostFor returns the Host header for u, as the pool is configured.
func (x *request) hostFor(u *routing.Upstream) string {
	switch x.endpoint.Host {
	case "", "forward":
		return x.r.Host
	case "upstream":
		return u.URL.Host
	}
	return x.endpoint.Host
}

// endpointURL is u's MCP endpoint with the client's query.
func (x *request) endpointURL(u *routing.Upstream) *url.URL {
	target := *u.URL
	target.RawQuery = x.r.URL.RawQuery
	return &target
}
