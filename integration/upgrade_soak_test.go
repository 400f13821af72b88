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

// The same of calls that ask in sessions of legacy servers, each kind of which loses
// nothing at all.
func TestSoakOfCallsOfSessions(t *testing.T) {
	for _, server := range askingServers {
		t.Run(server.name, func(t *testing.T) {
			coreChurnThrough(t, server, 1000, 2*time.Minute, 5*time.Second)
		})
	}
}
