package realtest

import (
	"testing"
	"time"
)

const (
	// Within bounds what a real server needs a moment for. It is a liveness bound:
	// far above what any test needs, so that none measures the machine.
	Within = 20 * time.Second

	pollEvery = 10 * time.Millisecond
)

// Eventually polls until reached reports true, and fails the test if that is not so
// within the bound; what names it there.
func Eventually(t testing.TB, what string, reached func() bool) {
	t.Helper()
	if !Until(Within, reached) {
		t.Fatalf("not within %v: %s", Within, what)
	}
}

// Until polls until reached reports true, or the bound is over, and reports which.
func Until(bound time.Duration, reached func() bool) bool {
	limit := time.NewTimer(bound)
	defer limit.Stop()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for !reached() {
		select {
		case <-limit.C:
			return false
		case <-poll.C:
		}
	}
	return true
}
