package proxy_test

import (
	"net/http"
	"testing"
	"time"

	"berth/internal/demo/fleet"
	"berth/proxy"
)

const somePage = "http://localhost:6274"

// letsRead has an instance say which page may read its answers.
func letsRead(page string) func(*fleet.Server) {
	return func(s *fleet.Server) {
		s.Intercept = func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			w.Header().Set("Access-Control-Allow-Origin", page)
			w.Header().Set("Vary", "Origin")
			return false
		}
	}
}

func (r reply) readers() string {
	return r.header.Get("Access-Control-Allow-Origin") + " " + r.header.Get("Vary")
}

// TestPageMayReadASharedAnswer: if the instance lets it, as it may read the instance's own.
func TestPageMayReadASharedAnswer(t *testing.T) {
	for name, server := range map[string]func(*fleet.Server){
		"JSON":   letsRead(somePage),
		"events": func(s *fleet.Server) { s.SSE = true; letsRead(somePage)(s) },
	} {
		b := start(t, setup{server: server, endpoint: func(ep *proxy.Endpoint) { ep.Coalesce = 5 * time.Second }})
		id := b.modern("tools/call", "slow_compute", slowTool).lastEvent().parsed().Result.TaskID
		for range 2 {
			if r := b.modern("tasks/get", id, byID(id), "Origin", somePage); r.status != 200 || r.readers() != somePage+" Origin" {
				t.Errorf("%s: got %v, readers %q", name, r, r.readers())
			}
		}
		if n := b.fleet[0].Calls("tasks/get") + b.fleet[1].Calls("tasks/get") + b.fleet[2].Calls("tasks/get"); n != 1 {
			t.Errorf("%s: the upstream saw %d polls, want 1", name, n)
		}
	}
}

// TestPageMayReadAListThatAllInstancesLetItRead: and no other.
func TestPageMayReadAListThatAllInstancesLetItRead(t *testing.T) {
	for name, c := range map[string]struct {
		server func(*fleet.Server)
		want   string
	}{
		"all let it": {letsRead(somePage), somePage + " Origin"},
		"one does not": {func(s *fleet.Server) {
			if s.Name != "b" {
				letsRead(somePage)(s)
			}
		}, " "},
		"none does": {nil, " "},
	} {
		b := start(t, setup{server: c.server})
		if r := b.legacy("", "tasks/list", "", "Origin", somePage); r.status != 200 || r.readers() != c.want {
			t.Errorf("%s: got %v, readers %q, want %q", name, r, r.readers(), c.want)
		}
	}
}
