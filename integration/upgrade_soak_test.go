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
