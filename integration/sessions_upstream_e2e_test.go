//go:build e2e

package integration

import (
	"fmt"
	"testing"
	"time"
)

// The connections between berth and the server are reset again and again, in the middle of
// calls that work and calls that ask. All of them come to their end.
func TestCallsOfSessionsOutliveTheirConnections(t *testing.T) {
	for _, server := range askingServers {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			h := newSessionHolders(t, server, 1, "")
			b, gate := h.startGated(t, -1)
			client := openSession(t, b.url(), "alice")
			var uses []heldUse
			for i := range 3 {
				uses = append(uses,
					h.use(t, client, b, fmt.Sprintf("asks-%d", i), server.asking),
					h.use(t, client, b, fmt.Sprintf("works-%d", i), server.slow))
			}
			for _, u := range uses {
				u.awaitHeard(t, b)
			}
			stop := gate.resetEvery(t, 700*time.Millisecond)
			for i := range uses {
				uses[i].thinks = answersWithin
			}
			attendAll(t, uses, b)
			broken := stop()
			t.Logf("%d connections were reset", broken)
			if broken < len(uses) {
				t.Errorf("connections that were reset: got %d, want one for each call at least", broken)
			}
			h.wantOnce(t, len(uses))
		})
	}
}

// The server is out of reach for a while, in which a berth dies as well. It still has the
// sessions when it is back, and another berth goes on with its calls.
func TestCallsOfSessionsOutliveAPartition(t *testing.T) {
	for _, server := range askingServers {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			h, gate := startTogether(t, server, 2)
			dies, lives := h.berths[0], h.berths[1]
			client := openSession(t, lives.url(), "alice")
			var uses []heldUse
			for i, b := range h.berths {
				uses = append(uses,
					h.use(t, client, b, fmt.Sprintf("asks-%d", i), server.asking),
					h.use(t, client, b, fmt.Sprintf("works-%d", i), server.slow))
			}
			for _, u := range uses {
				u.awaitHeard(t, lives)
			}
			gate.partition(true)
			dies.kill()
			<-time.After(longOutage)
			gate.partition(false)
			attendAll(t, uses, lives)
			h.wantOnce(t, len(uses))
			lives.wantAdopted(t, 2)
		})
	}
}

// A server that closes its stream on purpose, and says when to come back, is resumed, and
// that is nobody's fault.
func TestPlannedCloseIsNoFault(t *testing.T) {
	for _, c := range []struct {
		server askingServer
		use    func(call string) toolUse
	}{
		{askingServers[1], interactiveUses[2]},
		{askingServers[2], interactiveUses[2]},
		{demoServer, func(call string) toolUse {
			return toolUse{"errand", map[string]any{"label": call, "seconds": 2, "hang_up": 4}, fixed(call + ", done on"), 0}
		}},
	} {
		t.Run(c.server.name, func(t *testing.T) {
			t.Parallel()
			h := newSessionHolders(t, c.server, 1, "")
			b := h.start(t)
			client := openSession(t, b.url(), "")
			var uses []heldUse
			for i := range 5 {
				uses = append(uses, h.use(t, client, b, fmt.Sprintf("call-%d", i), c.use))
			}
			attendAll(t, uses, b)
			h.wantOnce(t, len(uses))
			b.wantNoFaults(t)
		})
	}
}

// The server is killed in mid-call, and another process is there in its place, or none. The
// session is gone with it: its tasks fail and say so.
func TestCallsOfASessionThatTheServerHasLostFail(t *testing.T) {
	for _, server := range askingServers {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			h := newSessionHolders(t, server, 1, "")
			b, gate := h.startGated(t, -1)
			other := server.fleet(t, 1)[0].base // it takes longer to start than the calls have
			client := openSession(t, b.url(), "alice")
			asking := h.use(t, client, b, "asks", server.asking)
			asking.awaitStatus(t, b, "input_required")
			working := h.use(t, client, b, "works", server.slow)
			working.awaitProgress(t, b)

			gate.turn(t, other)
			gate.reset()
			for _, u := range []heldUse{asking, working} {
				got := u.attend(t, func() *watched { return b })
				if !got.response.Error.lost("session_lost") {
					t.Errorf("%s: got %s, want it failed as session_lost", u.call, got.response.whole)
				}
			}
		})
	}
}
