package integration

import (
	"path/filepath"
	"testing"

	"berth/internal/storage/redistest"
)

// What a client was told before berth died holds after it: the store knows the
// owner, or the fleet is asked.
func TestRunningTasksOutliveAKilledBerth(t *testing.T) {
	stores := []struct {
		name   string
		url    func(testing.TB) string
		source string // where the owners are found afterwards
	}{
		{"memory", func(testing.TB) string { return "memory:" }, "asked"},
		{"redis", func(t testing.TB) string { return redistest.Start(t).URL() }, "store"},
		{"file", fileStore, "bound"},
	}
	for _, store := range stores {
		t.Run(store.name, func(t *testing.T) {
			t.Parallel()
			fleet := startLocalFleet(t, nil)
			url := store.url(t)
			client := newModernClient(t)
			told := killAmidst(t, client, startWatched(t, fleet.fleet, "--store", url))

			after := startWatched(t, fleet.fleet, "--store", url)
			wantTasks(t, client, after.url(), told, askingAtOnce)
			if store.source == "store" {
				after.wantByStore(t, tally{}, len(told))
			} else if got := after.polls(t, store.source); got != len(told) {
				t.Errorf("polls whose owner was found in %q: got %d, want all %d", store.source, got, len(told))
			}
		})
	}
}

// fileStore is the URL of a store in a file of the test's own.
func fileStore(t testing.TB) string { return "file:" + filepath.Join(t.TempDir(), "berth.db") }

// killAmidst kills berth while clients make tasks, and returns the ids that they were
// told.
func killAmidst(t testing.TB, client *modernClient, b *watched) []string {
	t.Helper()
	const enough, most = 20, 60
	ids := make(chan string, most)
	go func() {
		defer close(ids)
		crowd(t, most, askingAtOnce, func(int) {
			got, err := client.send(t, b.url(), "tools/call", "slow_compute", slowCompute(3600))
			if err == nil && got.Result.TaskID != "" {
				ids <- got.Result.TaskID
			}
		})
	}()
	var told []string
	for id := range ids {
		told = append(told, id)
		if len(told) == enough {
			b.kill()
		}
	}
	if len(told) < enough {
		t.Fatalf("tasks made: got %d, want at least %d", len(told), enough)
	}
	return told
}
