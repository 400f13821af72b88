package integration

import (
	"log"

	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// roundRobin starts a plain load balancer, each request to the next URL, and returns
// its MCP endpoint. It is what berth is measured against, and what spreads one
// client's requests over several berths.
func roundRobin(t testing.TB, upstreams []string) string {
	t.Helper()
	targets := make([]*url.URL, 0, len(upstreams))
	for _, upstream := range upstreams {
		target, err := url.Parse(upstream)
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, target)
	}
	var next atomic.Uint64
	balancer := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			target := targets[next.Add(1)%uint64(len(targets))]
			r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host
		},
		FlushInterval: -1,
		ErrorLog:      log.New(t.Output(), "round robin: ", 0),
	})
	t.Cleanup(func() {
		// Standing streams of clients that left would hold Close up.
		balancer.CloseClientConnections()
		balancer.Close()
	})
	return balancer.URL + "/mcp"
}
