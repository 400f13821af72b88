//go:build e2e

package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"berth/internal/probe"
)

const (
	modernRevision = "2026-07-28"
	legacyRevision = "2025-11-25"
)

// probing is a run of the built program's probe.
type probing struct {
	probe.Report

	code int
}

// runProbe probes url, quicker than anybody would in earnest.
func runProbe(t testing.TB, url string, args ...string) probing {
	t.Helper()
	line := slices.Concat([]string{"probe", url, "--json", "--rate", "200"}, args)
	got := runBerth(t, line...)
	p := probing{code: got.code}
	if err := json.Unmarshal([]byte(got.stdout), &p.Report); err != nil {
		t.Fatalf("%v:\n%s\n%s", err, got.stdout, got.stderr)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s:\n%s", url, got.stdout)
		}
	})
	return p
}

func (p probing) check(revision, name string) probe.Check {
	i := slices.IndexFunc(p.Checks, func(c probe.Check) bool { return c.Revision == revision && c.Name == name })
	if i < 0 {
		return probe.Check{}
	}
	return p.Checks[i]
}

// lost is a cell of the table.
func (p probing) lost(revision, name string) string {
	c := p.check(revision, name)
	if c.Asked == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", c.Lost, c.Asked)
}

// longTask is a tool call that has not ended when it is cancelled.
var longTask = []string{"--tool", "slow_compute", "--args", `{"seconds":600,"label":"probe"}`}

// The table of README.md: what the same fleet of three loses behind what may stand in
// front of it.
func TestProbeTable(t *testing.T) {
	t.Parallel()
	fronts := []struct {
		name  string
		start func(t testing.TB, f *localFleet) string
		code  int
		// what must be lost
		polls, sessions bool
	}{
		{"nothing, and one instance only", func(_ testing.TB, f *localFleet) string { return f.fleet[0].url() }, 0, false, false},
		{"a round robin", func(t testing.TB, f *localFleet) string { return roundRobin(t, f.urls()) }, 1, true, true},
		{"nginx", func(t testing.TB, f *localFleet) string { return startNginx(t, f.fleet, "", "") }, 1, true, true},
		{"nginx, `hash $http_mcp_name`", func(t testing.TB, f *localFleet) string { return startNginx(t, f.fleet, "hash $http_mcp_name;", "") }, 1, true, true},
		{"nginx, `ip_hash`, for calls from one address", func(t testing.TB, f *localFleet) string { return startNginx(t, f.fleet, "ip_hash;", "") }, 0, false, false},
		{"berth", func(t testing.TB, f *localFleet) string { return startBerth(t, f.fleet).url() }, 0, false, false},
	}
	var table strings.Builder
	fmt.Fprintf(&table, "| in front | polls lost | cancels lost | tasks left out of streams | sessions broken |\n| --- | --- | --- | --- | --- |\n")
	for _, front := range fronts {
		f := startLocalFleet(t, nil)
		got := runProbe(t, front.start(t, f), longTask...)
		polls, sessions := got.check(modernRevision, "polls"), got.check(legacyRevision, "sessions")
		cancels, listened := got.check(modernRevision, "cancels"), got.check(modernRevision, "listened")
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", front.name, got.lost(modernRevision, "polls"),
			got.lost(modernRevision, "cancels"), got.lost(modernRevision, "listened"), got.lost(legacyRevision, "sessions"))
		if got.code != front.code || polls.Asked != 30 || cancels.Asked != 10 || sessions.Asked != 10 || listened.Asked != 15 {
			t.Errorf("%s: got exit code %d, %+v, %+v, %+v, %+v, want %d and all asked", front.name, got.code, polls, cancels, sessions, listened, front.code)
		}
		if (polls.Lost > 0) != front.polls || (listened.Lost > 0) != front.polls || (sessions.Lost > 0) != front.sessions {
			t.Errorf("%s: got %+v and %+v, want lost polls, and tasks of listeners: %v, broken sessions: %v", front.name, polls, sessions, front.polls, front.sessions)
		}
		wantAsSeen(t, f, got)
	}
	t.Logf("three instances, 10 tasks and 10 sessions each:\n\n%s", &table)
}

// wantAsSeen compares a report with what the instances counted: the probe must neither
// lose nor repeat anything of its own.
func wantAsSeen(t testing.TB, f *localFleet, got probing) {
	t.Helper()
	legacy := got.check(legacyRevision, "tasks")
	sent := got.check(modernRevision, "tasks").Asked + legacy.Asked - legacy.Lost
	seen, ran := 0, 0
	for _, s := range f.servers {
		ran += s.Executions()
		seen += s.Calls("server/discover")
	}
	if ran != sent || seen < 1 || seen > 1+len(f.servers) {
		t.Errorf("got %d tools run and %d discoveries, want %d and 1, and berth's own of each instance at most", ran, seen, sent)
	}
}
