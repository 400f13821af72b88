package probe_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/demo"
	"berth/internal/mcptest"
	"berth/internal/memnet"
	"berth/internal/probe"
)

// front is where the probed endpoint listens, in memory.
const front = "front"

// served runs h under a name.
func served(t *testing.T, name string, h http.Handler) *memnet.Listener {
	t.Helper()
	l := memnet.Listen(name)
	server := &http.Server{Handler: h}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return l
}

// options probe the front with the fleet's slow tool, in fake time.
func options(listeners ...*memnet.Listener) probe.Options {
	return probe.Options{
		URL: "http://" + front + "/mcp", Tool: "slow_compute", Args: json.RawMessage(`{"seconds":60,"label":"probe"}`),
		Rounds: 10, Rate: 10, Limit: 2 * time.Minute, Dial: memnet.Dialer(listeners...),
	}
}

// probed runs the probe against h.
func probed(t *testing.T, h http.Handler, change ...func(*probe.Options)) *probe.Report {
	t.Helper()
	return probedBy(t.Context(), t, h, change...)
}

func probedBy(ctx context.Context, t *testing.T, h http.Handler, change ...func(*probe.Options)) *probe.Report {
	t.Helper()
	o := options(served(t, front, h))
	for _, c := range change {
		c(&o)
	}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	report := probe.Run(ctx, o)
	var text strings.Builder
	if err := report.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	t.Log(text.String())
	if most := o.MaxRequests(); report.Requests > most {
		t.Errorf("%d requests, want at most the %d that were announced", report.Requests, most)
	}
	return report
}

// robin is a round robin over three instances that keep their state to themselves.
func robin(t *testing.T, change func(*mcptest.Server)) (http.Handler, []*mcptest.Server) {
	t.Helper()
	var servers []*mcptest.Server
	var listeners []*memnet.Listener
	var urls []*url.URL
	for _, name := range []string{"a", "b", "c"} {
		s := &mcptest.Server{Name: name}
		if change != nil {
			change(s)
		}
		servers = append(servers, s)
		listeners = append(listeners, served(t, name, s))
		urls = append(urls, &url.URL{Scheme: "http", Host: name, Path: "/mcp"})
	}
	transport := &http.Transport{DialContext: memnet.Dialer(listeners...)}
	t.Cleanup(transport.CloseIdleConnections)
	return demo.NewRoundRobin(transport, urls...), servers
}

// inFakeTime runs a test in a bubble.
func inFakeTime(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// check returns a check that must have been made.
func check(t *testing.T, report *probe.Report, revision, name string) probe.Check {
	t.Helper()
	for _, c := range report.Checks {
		if c.Revision == revision && c.Name == name {
			return c
		}
	}
	t.Errorf("no check %s %q", revision, name)
	return probe.Check{}
}

// skipped reports whether a check was not made, and why.
func skipped(report *probe.Report, revision, name string) string {
	for _, s := range report.Skipped {
		if s.Revision == revision && s.Name == name {
			return s.Why
		}
	}
	return ""
}

const (
	modern = "2026-07-28"
	legacy = "2025-11-25"
)
