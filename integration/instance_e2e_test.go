//go:build e2e

package integration

import "testing"

// A killed instance takes its own tasks with it and nothing else: new work goes to
// the others, none of it twice.
func TestNewWorkGoesRoundAKilledInstance(t *testing.T) {
	t.Parallel()
	const calls = 30
	fleet := tasksFleet(t, 3, jsonAnswers)
	berth := startBerth(t, fleet)
	drive(t, extensionTasks, berth.url(), calls).wantAllRight(t)

	killed, left := fleet[0], fleet[1:]
	before := 0
	for _, i := range left {
		before += i.stats(t).ToolCalls
	}
	killed.kill()
	drive(t, extensionTasks, berth.url(), calls).wantAllRight(t)
	left.wantToolCalls(t, before+calls)
}

// A legacy client whose session is gone is told so and initializes anew; here new
// clients find the instances that are left.
func TestNewSessionsGoRoundAKilledInstance(t *testing.T) {
	t.Parallel()
	fleet := everythingFleet(t, 3)
	berth := startBerth(t, fleet)
	fleet[1].kill()
	drive(t, coreTasks, berth.url(), 20).wantAllRight(t)
	fleet[:1].wantAllAtWork(t, func(s stats) int { return s.Posts })
	fleet[2:].wantAllAtWork(t, func(s stats) int { return s.Posts })
}

// What runs on the other instances while one is killed comes back right.
func TestRunningWorkOfOtherInstancesOutlivesAKilledOne(t *testing.T) {
	t.Parallel()
	const calls = 60
	fleet := tasksFleet(t, 3, jsonAnswers)
	berth := startBerth(t, fleet)

	work := startDriver(t, extensionTasks, berth.url(), calls)
	killed, left := fleet[0], fleet[1:]
	if !await(t, readyWithin, func() bool { return killed.stats(t).Tasks > 0 }) {
		t.Fatal("the instance to be killed got no work")
	}
	killed.kill()

	got := work.report(t)
	survived := 0
	for _, i := range left {
		survived += i.stats(t).Tasks
	}
	t.Logf("%v; %d tasks on the instances left", got, survived)
	if got.Right < survived {
		t.Errorf("calls right: got %d, want at least the %d of the instances left", got.Right, survived)
	}
}
