package demo

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
)

// NewRoundRobin returns what many fleets have in front of them today: every
// request goes to the next upstream, whatever it is about. It panics without
// upstreams.
func NewRoundRobin(transport http.RoundTripper, upstreams ...*url.URL) http.Handler {
	if len(upstreams) == 0 {
		panic("demo: round robin over no upstreams")
	}
	var turn atomic.Uint64
	proxy := &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1, // events at once
		Rewrite: func(r *httputil.ProxyRequest) {
			next := upstreams[(turn.Add(1)-1)%uint64(len(upstreams))]
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.Path = next.Scheme, next.Host, next.Path
			r.Out.Host = r.In.Host
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Without this the server closes the request's body with the first byte
		// of the answer, maybe before the transport has seen the body's end: it
		// then breaks the exchange. Such losses would not be the balancer's.
		_ = http.NewResponseController(w).EnableFullDuplex()
		proxy.ServeHTTP(w, r)
	})
}
