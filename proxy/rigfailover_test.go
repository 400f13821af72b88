package proxy_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"berth/internal/mcptest"
	"berth/proxy"
	"berth/routing"
)

// reinit is a rig whose sessions outlive their instances, which demand one.
func reinit(o rigOptions) rigOptions {
	setUp, endpoint := o.server, o.endpoint
	o.server = func(s *mcptest.Server) {
		s.SessionOptional = false
		if setUp != nil {
			setUp(s)
		}
	}
	o.endpoint = func(ep *proxy.Endpoint) {
		ep.Reinit = true
		if endpoint != nil {
			endpoint(ep)
		}
	}
	return o
}

// furnish does in a session what another instance would have to be told.
func (f *rig) furnish(session string) {
	f.t.Helper()
	f.in(session, http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	f.legacy(session, "logging/setLevel", `"level":"debug"`)
	f.legacy(session, "logging/setLevel", `"level":"error"`)
	f.legacy(session, "resources/subscribe", `"uri":"file:///one"`)
	f.legacy(session, "resources/subscribe", `"uri":"file:///two"`)
	f.legacy(session, "resources/unsubscribe", `"uri":"file:///one"`)
}

// who calls the tool that names its instance.
func (f *rig) who(session string) string {
	f.t.Helper()
	r := f.legacy(session, "tools/call", `"name":"who"`)
	m := r.message(f.t)
	if m.Result == nil {
		return fmt.Sprint(r.status)
	}
	return m.Result.StructuredContent.Instance
}

// wantSession fails the test unless the instance holds one session, furnished.
func (s *rigServer) wantSession(t *testing.T) {
	t.Helper()
	want := mcptest.SessionView{Version: "2025-11-25", Initialized: true, Level: "error", URIs: []string{"file:///two"}}
	if got := s.Sessions(); len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(want) {
		t.Errorf("sessions at %s: got %v, want %v", s.Name, got, want)
	}
}

// lose kills an instance to which berth has no idle connection: what is written to
// one that is just breaking counts as sent.
func (f *rig) lose(s *rigServer) {
	f.outbound.Close()
	s.kill()
}

// removeFirst takes the first upstream out of the configuration.
func (f *rig) removeFirst() {
	others := slices.Clone(f.pool.Upstreams()[1:])
	pool := routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: others, Settings: routing.Settings{Picker: firstCandidate{}}})
	f.router.Pool, f.router.Asker = pool, routing.NewAsker(pool)
}

// losses are ways in which an instance loses a session.
var losses = map[string]func(f *rig, s *rigServer){
	"killed":    (*rig).lose,
	"restarted": func(_ *rig, s *rigServer) { s.Restart() },
	"restarted, and says 400": func(_ *rig, s *rigServer) {
		s.inject(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			if r.Header.Get("Mcp-Session-Id") != "" {
				w.WriteHeader(http.StatusBadRequest)
			}
			return r.Header.Get("Mcp-Session-Id") != ""
		})
	},
}
