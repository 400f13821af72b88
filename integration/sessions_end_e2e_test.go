//go:build e2e

package integration

import (
	"net/http"
	"strings"
	"testing"
)

// startTogether starts berths that share one gate before the server.
func startTogether(t testing.TB, server askingServer, n int) (*sessionHolders, *eventGate) {
	t.Helper()
	fronts, gates := server.fleet(t, 1).gated(t, -1)
	h := sessionHoldersOf(t, server, fronts, sealed())
	for range n {
		h.start(t)
	}
	return h, gates[0]
}

// A client ends its session while calls are held in it at two berths. It is refused
// everywhere from then on, and what asked it is told that nobody answers. The server is
// told when the last call is over; the client gets its result in another session.
func TestEndOfASessionWaitsForItsCallsAtAllBerths(t *testing.T) {
	for _, server := range askingServers {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			h, gate := startTogether(t, server, 2)
			client := openSession(t, h.berths[0].url(), "alice")
			asking, working := h.use(t, client, h.berths[0], "asks", server.asking), h.use(t, client, h.berths[1], "works", server.slow)
			asking.awaitStatus(t, h.berths[1], "input_required")
			working.awaitProgress(t, h.berths[0])

			response, err := client.send(t.Context(), http.MethodDelete, h.berths[0].url(), "")
			if err != nil || response.StatusCode != http.StatusOK {
				t.Fatalf("DELETE: got %v, %v, want 200", response, err)
			}
			response.Body.Close()
			for i, b := range h.berths {
				if status, err := client.post(t.Context(), b.url(), `{"jsonrpc":"2.0","id":"p","method":"ping"}`); status != http.StatusNotFound {
					t.Errorf("berth %d, after DELETE: got %d, %v, want 404", i, status, err)
				}
			}
			if saw := gate.journal(); strings.Contains(saw, "DELETE") {
				t.Errorf("at the server: got %s, want no DELETE while calls are held", saw)
			}

			again := openSession(t, h.berths[1].url(), "alice")
			asking.client, working.client = again, again
			attendAll(t, []heldUse{working}, h.berths...)
			asking.attend(t, func() *watched { return h.berths[0] }) // it has ended, as its tool likes
			if !await(t, readyWithin, func() bool { return strings.Contains(gate.journal(), "DELETE") }) {
				t.Error("the server is not told that the session has ended")
			}
			before, _, _ := strings.Cut(gate.journal(), "DELETE")
			if strings.Count(before, "response") != 2 {
				t.Errorf("at the server: got %s, want DELETE after both responses", gate.journal())
			}
			if got := h.fleet.fleet.sum(t, stats.repeats); got != 0 {
				t.Errorf("calls that were run twice: got %d, want none", got)
			}
		})
	}
}

// A cancel through any berth reaches the server as a notification, in the session of the
// call; then its exchange is closed.
func TestCancelReachesTheServerOfASession(t *testing.T) {
	for _, server := range askingServers {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			h, gate := startTogether(t, server, 2)
			client := openSession(t, h.berths[0].url(), "alice")
			u := h.use(t, client, h.berths[0], "asks", server.asking)
			u.awaitStatus(t, h.berths[1], "input_required")
			got, err := client.ask(t.Context(), h.berths[1].url(), "tasks/cancel", map[string]any{"taskId": u.task})
			if err != nil || !strings.Contains(got.whole, `"cancelled"`) {
				t.Fatalf("tasks/cancel: got %s, %v, want the task, cancelled", got.whole, err)
			}
			if !await(t, readyWithin, func() bool { return strings.HasSuffix(gate.journal(), "closed") }) {
				t.Error("the call's exchange stays open")
			}
			if saw := gate.journal(); !strings.HasPrefix(saw, "cancelled") {
				t.Errorf("at the server: got %s, want it told that the call is cancelled, and then the exchange closed", saw)
			}
			u.awaitStatus(t, h.berths[0], "cancelled")
			u.awaitStatus(t, h.berths[1], "cancelled")
		})
	}
}

// The berth that holds the last call of a session that its client has ended dies. Its adopter
// ends the call, and then the session.
func TestEndOfASessionOutlivesItsHolder(t *testing.T) {
	for _, server := range askingServers {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			h, gate := startTogether(t, server, 2)
			victim, adopter := h.berths[0], h.berths[1]
			client := openSession(t, victim.url(), "alice")
			u := h.use(t, client, victim, "works", server.slow)
			u.awaitProgress(t, victim)
			response, err := client.send(t.Context(), http.MethodDelete, adopter.url(), "")
			if err != nil || response.StatusCode != http.StatusOK {
				t.Fatalf("DELETE: got %v, %v, want 200", response, err)
			}
			response.Body.Close()
			victim.kill()
			u.client = openSession(t, adopter.url(), "alice")
			attendAll(t, []heldUse{u}, adopter)
			if !await(t, readyWithin, func() bool { return strings.Contains(gate.journal(), "DELETE") }) {
				t.Errorf("at the server: got %s, want DELETE", gate.journal())
			}
			h.wantOnce(t, 1)
		})
	}
}

// A call is cancelled whose holder is dead, and nobody has found that out yet.
func TestCancelOfADeadHoldersCallReachesTheServer(t *testing.T) {
	for _, server := range askingServers {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			h, gate := startTogether(t, server, 2)
			victim, adopter := h.berths[0], h.berths[1]
			client := openSession(t, victim.url(), "alice")
			u := h.use(t, client, victim, "asks", server.asking)
			u.awaitStatus(t, adopter, "input_required")
			victim.kill()
			if _, err := client.ask(t.Context(), adopter.url(), "tasks/cancel", map[string]any{"taskId": u.task}); err != nil {
				t.Fatal(err)
			}
			u.awaitStatus(t, adopter, "cancelled")
			if !await(t, readyWithin, func() bool { return strings.Contains(gate.journal(), "cancelled") }) {
				t.Errorf("at the server: got %s, want it told that the call is cancelled", gate.journal())
			}
		})
	}
}
