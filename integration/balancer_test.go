package integration

import (
	"bytes"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
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
	var next atomic.Uint64
	return balance(t, upstreams, func(n int) int { return int(next.Add(1) % uint64(n)) })
}

// atRandom is one that has no order in its choice.
func atRandom(t testing.TB, upstreams []string) string {
	t.Helper()
	return balance(t, upstreams, rand.IntN)
}

// balance sends each request to the URL that pick chooses of so many. Each is one
// exchange: the next one of the same client, on the same connection, is chosen for
// anew.
func balance(t testing.TB, upstreams []string, pick func(n int) int) string {
	t.Helper()
	targets := make([]*url.URL, 0, len(upstreams))
	for _, upstream := range upstreams {
		target, err := url.Parse(upstream)
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, target)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			target := targets[pick(len(targets))]
			r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host
		},
		Transport:     transport,
		FlushInterval: -1,
		ErrorLog:      log.New(t.Output(), "balancer: ", 0),
	}
	balancer := httptest.NewServer(buffered(forward))
	t.Cleanup(func() {
		// Standing streams of clients that left would hold Close up.
		balancer.CloseClientConnections()
		balancer.Close()
		transport.CloseIdleConnections()
	})
	return balancer.URL + "/mcp"
}

// buffered reads a request's body to its end before next sees the request. A body
// that is still open when the answer begins is closed by the server under the
// Transport that forwards it, which then cuts its own connection and the answer with
// it: seen here with answers that came within a fraction of a millisecond.
func buffered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}
