//go:build e2e

package integration

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// SIGTERM: what outlasts the time to drain goes on at another berth. The server is not
// told that anybody gave it up.
func TestTerminatedBerthLeavesCallsOfSessionsToOthers(t *testing.T) {
	for _, server := range askingServers {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			h := newSessionHolders(t, server, 1, sealed())
			h.config = h.reconfigured(t, `drain = "2s"`, `drain = "1s"`)
			leaving, other := h.start(t), h.start(t)
			client := openSession(t, leaving.url(), "alice")
			asking, working := h.use(t, client, leaving, "asks", server.asking), h.use(t, client, leaving, "works", server.slow)
			asking.awaitStatus(t, other, "input_required")
			working.awaitProgress(t, other)

			leaving.signal(t, syscall.SIGTERM)
			leaving.awaitExit(t, time.Second+lastWords)
			wantExitCode(t, leaving, 0)
			attendAll(t, []heldUse{asking, working}, other)
			h.wantOnce(t, 2)
			if got := h.fleet.fleet.sum(t, stats.cutOff); got != 0 {
				t.Errorf("calls given up at the server: got %d, want none", got)
			}
			if got := other.metric(t, "berth_upgrade_orphans_total"); got != 0 {
				t.Errorf("calls ended for a dead holder: got %d, want none", got)
			}
		})
	}
}

// A berth on a file ends, killed or terminated, and is started again: it goes on with its
// calls.
func TestRestartedBerthGoesOnWithCallsOfSessions(t *testing.T) {
	for _, end := range []struct {
		name string
		of   func(testing.TB, *watched)
	}{
		{"killed", func(_ testing.TB, b *watched) { b.kill() }},
		{"terminated", func(t testing.TB, b *watched) {
			b.signal(t, syscall.SIGTERM)
			b.awaitExit(t, 2*time.Second+lastWords)
		}},
	} {
		for _, server := range []askingServer{askingServers[0], askingServers[3]} {
			t.Run(end.name+"/"+server.name, func(t *testing.T) {
				t.Parallel()
				h := &sessionHolders{server: server, holders: &holders{fleet: &localFleet{fleet: server.fleet(t, 1)}}}
				h.config = holderConfig(t, fileStore(t), sealed(), server.rules)
				before := h.start(t)
				client := openSession(t, before.url(), "alice")
				asking, working := h.use(t, client, before, "asks", server.asking), h.use(t, client, before, "works", server.slow)
				asking.awaitStatus(t, before, "input_required")
				working.awaitProgress(t, before)

				end.of(t, before)
				after := h.start(t)
				asking.awaitStatus(t, after, "input_required")
				attendAll(t, []heldUse{asking, working}, after)
				h.wantOnce(t, 2)
			})
		}
	}
}

// wantNoFaults fails the test if a berth has logged anything to worry about.
func (b *watched) wantNoFaults(t testing.TB) {
	t.Helper()
	for _, line := range b.output.lines() {
		if strings.Contains(line, `"level":"WARN"`) || strings.Contains(line, `"level":"ERROR"`) {
			t.Errorf("the log has %s", line)
		}
	}
}
