//go:build e2e

package integration

import (
	"fmt"
	"testing"
)

// held is what a berth holds: goroutines and open files. Both must be back where
// they were when a fault is over.
type held struct{ goroutines, files int }

func (h held) String() string {
	return fmt.Sprintf("%d goroutines, %d open files", h.goroutines, h.files)
}

// spare is how much more than before may be held afterwards: connections that are
// kept for the next request, to Redis and to upstreams, with two goroutines each.
const spare = 24

func (b *watched) held(t testing.TB) held {
	t.Helper()
	text := b.scrape(t)
	return held{
		goroutines: int(sumSeries(t, text, "go_goroutines")),
		files:      int(sumSeries(t, text, "process_open_fds")),
	}
}

// wantHeld fails the test unless berth comes back to holding what it held before.
func (b *watched) wantHeld(t testing.TB, before held, client *modernClient) {
	t.Helper()
	client.http.CloseIdleConnections()
	var now held
	back := await(t, healedWithin, func() bool {
		now = b.held(t)
		return now.goroutines <= before.goroutines+spare && now.files <= before.files+spare
	})
	if !back {
		t.Errorf("after the fault berth holds %v, want about %v as before", now, before)
	}
	t.Logf("held before: %v; after: %v", before, now)
}
