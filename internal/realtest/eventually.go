package realtest

import (
	"context"
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
	ctx, cancel := context.WithTimeout(t.Context(), Within)
	defer cancel()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for !reached() {
		select {
		case <-ctx.Done():
			t.Fatalf("not within %v: %s", Within, what)
		case <-poll.C:
		}
	}
}
