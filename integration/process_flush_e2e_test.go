//go:build e2e

package integration

import (
	"testing"

	"berth/internal/storage/redistest"
)

// A fail-over to a replica that lagged, a flush: bindings that Redis acknowledged are
// gone. The fleet still knows its tasks, so no poll is lost; berths that remember go
// on remembering.
func TestBindingsThatRedisLostAreFoundAgain(t *testing.T) {
	t.Parallel()
	const tasks = 40
	fleet := startLocalFleet(t, nil)
	redis := redistest.Start(t)
	a := startWatched(t, fleet.fleet, "--store", redis.URL())
	b := startWatched(t, fleet.fleet, "--store", redis.URL())
	client := newModernClient(t)
	ids := tasksMade(t, client, a.url(), tasks)
	do(t, redis, "FLUSHALL")

	wantTasks(t, client, b.url(), ids, askingAtOnce)
	if got := b.polls(t, "asked"); got != tasks {
		t.Errorf("polls that the fleet was asked for: got %d, want all %d", got, tasks)
	}
	wantTasks(t, client, a.url(), ids, askingAtOnce)
	if got := a.polls(t, "lru"); got != tasks {
		t.Errorf("polls that the berth routed that made the tasks: got %d from its LRU, want all %d", got, tasks)
	}

	// What was learned by asking is shared.
	awaitBound(t, redis, tasks)
	c := startWatched(t, fleet.fleet, "--store", redis.URL())
	wantTasks(t, client, c.url(), ids, askingAtOnce)
	c.wantByStore(t, tally{}, tasks)
	fleet.wantExecutions(t, tasks)
}
