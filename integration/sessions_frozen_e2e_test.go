//go:build e2e

package integration

import (
	"syscall"
	"testing"
	"time"
)

// A holder freezes for longer than its lease, and wakes up to find that another berth goes
// on with its calls. It gives none of them up at the server, and takes no stream away: each
// call has one end, and its tool runs once.
func TestFrozenHolderOfASessionsCallsLeavesThemToItsAdopter(t *testing.T) {
	for _, server := range askingServers {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			h := newSessionHolders(t, server, 1, sealed())
			frozen, adopter := h.start(t), h.start(t)
			client := openSession(t, adopter.url(), "alice")
			asking, working := h.use(t, client, frozen, "asks", server.asking), h.use(t, client, frozen, "works", server.slow)
			asking.awaitStatus(t, adopter, "input_required")
			working.awaitProgress(t, adopter)

			frozen.signal(t, syscall.SIGSTOP)
			if !await(t, readyWithin, func() bool { return adopter.metric(t, "berth_upgrade_adopted_total") == 2 }) {
				t.Fatal("nobody took the calls over")
			}
			<-time.After(longOutage / 2) // in which the adopter may reach the server, or not: the old connection stands
			frozen.signal(t, syscall.SIGCONT)
			<-time.After(longOutage / 2) // in which the one that woke up could do harm
			attendAll(t, []heldUse{asking, working}, h.berths...)
			h.wantOnce(t, 2)
			if got := h.fleet.fleet.sum(t, stats.cutOff); got != 0 {
				t.Errorf("calls given up at the server: got %d, want none", got)
			}
			adopter.wantAdopted(t, 2)
		})
	}
}
