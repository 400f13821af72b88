//go:build e2e

package integration

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/realtest"
	"berth/internal/storage/redistest"
)

// movingSessions is the published SDK v1 client, for everythingFleet: it waits for
// the file resume to be there, and goes on in the sessions that it has.
func movingSessions(resume string) driver {
	return func(t testing.TB) *exec.Cmd {
		return nodeCommand(t, filepath.Join(clientsDir, "moving-sessions.js"), "--resume", resume)
	}
}

// losses are how an instance loses its sessions.
var losses = map[string]func(t testing.TB, i *instance){
	"killed": func(_ testing.TB, i *instance) { i.kill() },
	"killed and started anew": func(t testing.TB, i *instance) {
		i.kill()
		address := strings.TrimPrefix(i.base, "http://")
		p := start(t, i.name, everythingCommand(t, i.name, address))
		if !p.awaitListening(t, address) {
			t.Fatalf("%s did not start anew", i.name)
		}
	},
}

// reinitConfig is a configuration under which sessions outlive their instances.
func reinitConfig(t testing.TB, f fleet) string {
	t.Helper()
	return configFile(t, "[[pools]]\nsession_failover = \"reinit\"\n[[pools.upstreams]]\nurl = \""+f[0].url()+"\"\n")
}

// Real clients go on in their sessions when the instance that holds them is killed,
// through one berth or two, and notice nothing: calls, questions of the server's,
// subscriptions and the standing stream.
func TestSessionsOutliveAKilledInstance(t *testing.T) {
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fleet := everythingFleet(t, 3)
			config := reinitConfig(t, fleet)
			b := startBerth(t, fleet, "--config", config)
			loseUnder(t, b.url(), fleet, lose)
			if moved := strings.Count(b.output.String(), `"session moved"`); moved == 0 {
				t.Error("no session moved")
			}
		})
		t.Run(name+", two berths", func(t *testing.T) {
			t.Parallel()
			fleet := everythingFleet(t, 3)
			config, store := reinitConfig(t, fleet), redistest.Start(t).URL()
			var urls []string
			for range 2 {
				urls = append(urls, startBerth(t, fleet, "--config", config, "--store", store).url())
			}
			loseUnder(t, roundRobin(t, urls), fleet, lose)
		})
	}
}

// loseUnder runs sessions, and has one instance lose its own in the midst of them.
func loseUnder(t *testing.T, url string, fleet fleet, lose func(t testing.TB, i *instance)) {
	t.Helper()
	const sessions = 12
	resume := filepath.Join(t.TempDir(), "resume")
	work := startDriver(t, movingSessions(resume), url, sessions)
	realtest.Eventually(t, "all sessions are set up", func() bool {
		return strings.Contains(work.process.output.String(), "ready to lose the instance")
	})
	fleet.wantAllAtWork(t, stats.posts)
	lose(t, fleet[0])
	if err := os.WriteFile(resume, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := work.report(t)
	t.Logf("%v", got)
	got.wantAllRight(t)
}

// Each server's own name for the session stays behind berth: server-everything puts it
// into every answer, go-sdk's server into the first.
func TestClientHearsOneNameOfAMovedSession(t *testing.T) {
	for name, c := range map[string]struct {
		fleet  func(testing.TB) fleet
		echoes bool
	}{
		"server-everything": {func(t testing.TB) fleet { return everythingFleet(t, 3) }, true},
		"go-sdk":            {func(t testing.TB) fleet { return goFleet(t, 3, true) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fleet := c.fleet(t)
			b := startBerth(t, fleet, "--config", reinitConfig(t, fleet))
			_, session := legacyPost(t, b.url(), "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
			legacyPost(t, b.url(), session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			want := map[bool]string{true: session}[c.echoes]
			list := func(when string) {
				t.Helper()
				status, named := legacyPost(t, b.url(), session, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
				if session == "" || status != http.StatusOK || named != want {
					t.Errorf("%s: got %d in session %q, want 200 in %q", when, status, named, want)
				}
			}
			list("before")
			held := b.count(func(r record) string { return r.Upstream })
			for _, i := range fleet {
				if held[i.name] > 0 {
					i.kill()
				}
			}
			list("after the loss")
			list("again")
		})
	}
}

// legacyPost sends one message in a session, or in none, and reads the answer to its
// end. It returns the status and what the answer calls the session.
func legacyPost(t testing.TB, url, session, body string) (status int, named string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		request.Header.Set("Mcp-Session-Id", session)
		request.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header.Get("Mcp-Session-Id")
}
