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

// The checks that berth has to pass must be able to fail: behind a round robin the
// same client loses polls, and calls with them.
func TestRoundRobinLosesPolls(t *testing.T) {
	skipShort(t)
	t.Parallel()
	fleet := tasksFleet(t, 3, jsonAnswers)
	got := drive(t, extensionTasks, roundRobin(t, fleet.urls()), 30)
	t.Logf("round robin: %d of %d polls lost, %d of %d calls right", got.LostPolls, got.Polls, got.Right, got.Calls)
	if got.LostPolls == 0 || got.Right == got.Calls {
		t.Error("want lost polls and wrong calls")
	}
}

// Without core's routing headers a round robin breaks the session itself.
func TestRoundRobinBreaksSessions(t *testing.T) {
	skipShort(t)
	t.Parallel()
	fleet := everythingFleet(t, 3)
	got := drive(t, coreTasks, roundRobin(t, fleet.urls()), 6)
	t.Logf("round robin: %d of %d polls lost, %d of %d calls right", got.LostPolls, got.Polls, got.Right, got.Calls)
	if got.Right == got.Calls {
		t.Error("want wrong calls")
	}
}
