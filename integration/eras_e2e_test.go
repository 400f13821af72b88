//go:build e2e

package integration

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A fleet in the middle of an upgrade: one published server of the legacy era, with sessions,
// and two of the modern one.
func TestPublishedServersOfBothErasServeClientsOfBoth(t *testing.T) {
	for name, legacyServer := range map[string]func(t testing.TB, name, address string) *exec.Cmd{
		"it refuses the modern era": everythingCommand,
		"it lists the legacy one":   goCommand,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, 3, func(name, address string) *exec.Cmd {
				if name == "a" {
					return legacyServer(t, name, address)
				}
				return nodeCommand(t, filepath.Join(serversDir, "tasks-server.js"), "--port", portOf(t, address), "--name", name, "--answers", string(jsonAnswers))
			})
			wantBothEras(t, startBerth(t, f))
		})
	}
}

// goCommand is go-sdk's own fixture, with sessions.
func goCommand(t testing.TB, _, address string) *exec.Cmd {
	return exec.Command(built(t, "everything-server"), "-http", address, "-stateless=false")
}

// wantBothEras looks whether a berth serves clients of both eras.
func wantBothEras(t *testing.T, b *berth) {
	t.Helper()
	c := newModernClient(t)
	const clients = 30
	modern, legacy := 0, 0
	for range clients {
		discovered, err := c.send(t, b.url(), "server/discover", "", map[string]any{})
		called, callErr := c.send(t, b.url(), "tools/call", "slow_compute", slowCompute(1))
		if err == nil && callErr == nil && strings.Contains(discovered.body, `"2026-07-28"`) && called.status == http.StatusOK {
			modern++
		}
		if initialized(t, b.url()) {
			legacy++
		}
	}
	if modern != clients || legacy != clients {
		t.Errorf("served %d modern and %d legacy clients of %d each", modern, legacy, clients)
	}
	if said := b.output.String(); !strings.Contains(said, "upstream speaks the legacy era: modern calls are bridged") {
		t.Errorf("no modern call met the server of the legacy era:\n%s", said)
	}
}

// initialized reports whether a legacy client's handshake succeeds.
func initialized(t *testing.T, url string) bool {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"legacy","version":"1"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}
