package integration

import (
	"net/http"
	"net/http/httptest"
	"testing"

	demofleet "berth/internal/mcptest"
)

// localFleet is a fleet within this process, for tests that must know what reached
// an upstream, or hold an answer back. It needs no parts.
type localFleet struct {
	fleet
	servers []*demofleet.Server
}

// intercept sees a request before the upstream does, and returns true if it answered.
type intercept func(w http.ResponseWriter, r *http.Request, body []byte) bool

// startLocalFleet starts three upstreams. A nil intercept lets everything through.
func startLocalFleet(t testing.TB, between intercept) *localFleet {
	t.Helper()
	skipShort(t)
	l := &localFleet{}
	for _, name := range []string{"a", "b", "c"} {
		server := &demofleet.Server{Name: name, Intercept: between}
		front := httptest.NewServer(server)
		t.Cleanup(func() {
			server.Close()
			front.CloseClientConnections()
			front.Close()
		})
		l.servers = append(l.servers, server)
		l.fleet = append(l.fleet, &instance{process: &process{name: name}, base: front.URL})
	}
	return l
}
