//go:build e2e

package integration

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// brokenCalls is a published TypeScript client, SDK v1's or v2's, whose server dies in mid-call.
func brokenCalls(library string) driver {
	return func(t testing.TB) *exec.Cmd {
		return nodeCommand(t, filepath.Join(clientsDir, "broken-calls.js"), "--library", library)
	}
}

// goBrokenCalls is a published Go client, with the same calls.
func goBrokenCalls(library string) driver {
	return func(t testing.TB) *exec.Cmd { return exec.Command(built(t, "broken"), "--library", library) }
}

// A server that dies in mid-call has often opened its event stream by then. Clients take a
// stream that just ends for one that goes on.
func TestClientsAreToldOfServersThatDie(t *testing.T) {
	t.Parallel()
	const calls = 3
	for name, client := range map[string]driver{
		"SDK v1": brokenCalls("v1"), "SDK v2": brokenCalls("v2"),
		"mcp-go": goBrokenCalls("mcp-go"), "go-sdk": goBrokenCalls("go-sdk"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := everythingFleet(t, 1)
			b := startBerth(t, servers)
			run := startDriver(t, client, b.url(), calls)
			if !await(t, readyWithin, func() bool { return servers.sum(t, stats.running) == calls }) {
				t.Fatal("the calls do not run")
			}
			servers[0].kill()
			run.report(t).wantAllRight(t)
		})
	}
}
