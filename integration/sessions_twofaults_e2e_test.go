//go:build e2e

package integration

import (
	"fmt"
	"testing"
	"time"
)

// A holder dies while Redis is away, and the next one as soon as it has taken the calls
// over. The third goes on with them.
func TestCallsOfSessionsOutliveTwoHoldersAndAnOutage(t *testing.T) {
	for _, server := range askingServers {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			h := newSessionHolders(t, server, 1, sealed(), "--appendonly", "yes", "--appendfsync", "always")
			victim, adopter := h.start(t), h.start(t)
			client := openSession(t, victim.url(), "alice")
			var uses []heldUse
			for i := range 4 {
				uses = append(uses, h.use(t, client, victim, fmt.Sprintf("asks-%d", i), server.asking))
			}
			uses = append(uses, h.use(t, client, victim, "works", server.slow))
			for _, u := range uses {
				u.awaitHeard(t, adopter)
			}
			h.redis.Kill()
			victim.kill()
			<-time.After(longOutage)
			h.redis.Restart()
			if !await(t, readyWithin, func() bool { return adopter.metric(t, "berth_upgrade_adopted_total") > 0 }) {
				t.Fatal("nobody takes the calls over")
			}
			adopter.kill()
			last := h.start(t)
			attendAll(t, uses, last)
			h.wantOnce(t, len(uses))
		})
	}
}
