package integration

import (
	"testing"
	"time"
)

// pollEvery is how often await looks. Real processes give no other sign.
const pollEvery = 20 * time.Millisecond

// await looks until done or the deadline is past, and tells which. It is for real
// processes only: what runs in this one is tested in fake time.
func await(t testing.TB, within time.Duration, done func() bool) bool {
	t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	look := time.NewTicker(pollEvery)
	defer look.Stop()
	for {
		if done() {
			return true
		}
		select {
		case <-deadline.C:
			return false
		case <-look.C:
		}
	}
}
