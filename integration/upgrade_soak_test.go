//go:build soak

package integration

import (
	"testing"
	"time"
)

// A thousand tasks, three berths, of which one dies every five seconds: none is lost, none
// hangs, none is run twice or ends in two ways.
func TestSoakOfUpgradedTasks(t *testing.T) {
	churnThrough(t, 1000, 2*time.Minute, 5*time.Second)
}

// The same of calls that ask in sessions of legacy servers, some of which queue: none of
// them is lost at all.
func TestSoakOfCallsOfSessions(t *testing.T) {
	queued := askingServers[0]
	queued.name, queued.rules = "server-everything, some calls at a time", queued.rules+"concurrency = 12\n"
	for _, server := range append([]askingServer{queued}, askingServers...) {
		t.Run(server.name, func(t *testing.T) {
			sessionChurnThrough(t, server, 1000, 2*time.Minute, 5*time.Second)
		})
	}
}
