package integration

import "testing"

// One client twice: what a round robin loses, berth must not. The first half shows that the checks of the
// second can fail; it has a fleet of its own, since servers die of requests that are broken off.
func TestPollsThatARoundRobinLosesAreNotLostThroughBerth(t *testing.T) {
	t.Parallel()
	const calls = 30
	plain := drive(t, extensionTasks, roundRobin(t, tasksFleet(t, 3, jsonAnswers).urls()), calls)
	t.Logf("round robin: %v", plain)
	if plain.LostPolls == 0 || plain.Right == plain.Calls {
		t.Error("round robin: want lost polls and wrong calls")
	}

	fleet := tasksFleet(t, 3, jsonAnswers)
	through := drive(t, extensionTasks, startBerth(t, fleet).url(), calls)
	t.Logf("berth:       %v", through)
	through.wantAllRight(t)
	fleet.wantAllAtWork(t, stats.tasks)
	fleet.wantToolCalls(t, calls)
}

// The legacy era has no routing headers: a round robin breaks the session itself.
func TestSessionsThatARoundRobinBreaksHoldThroughBerth(t *testing.T) {
	t.Parallel()
	const calls = 6
	fleet := everythingFleet(t, 3)

	plain := drive(t, coreTasks, roundRobin(t, fleet.urls()), calls)
	t.Logf("round robin: %v", plain)
	if plain.Right == plain.Calls {
		t.Error("round robin: want wrong calls")
	}

	through := drive(t, coreTasks, startBerth(t, fleet).url(), calls)
	t.Logf("berth:       %v", through)
	through.wantAllRight(t)
	fleet.wantAllAtWork(t, stats.posts)
}
