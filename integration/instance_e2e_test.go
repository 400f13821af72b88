//go:build e2e

package integration

import (
	"syscall"
	"testing"
)

// A killed instance takes its own tasks with it and nothing else: new work goes to
// the others, none of it twice.
func TestNewWorkGoesRoundAKilledInstance(t *testing.T) {
	t.Parallel()
	const calls = 30
	fleet := tasksFleet(t, 3, jsonAnswers)
	berth := startBerth(t, fleet)
	drive(t, extensionTasks, berth.url(), calls).wantAllRight(t)

	killed, left := fleet[0], fleet[1:]
	before := left.sum(t, stats.toolCalls)
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
	fleet[:1].wantAllAtWork(t, stats.posts)
	fleet[2:].wantAllAtWork(t, stats.posts)
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
	survived := left.sum(t, stats.tasks)
	t.Logf("%v; %d tasks on the instances left", got, survived)
	if got.Right < survived {
		t.Errorf("calls right: got %d, want at least the %d of the instances left", got.Right, survived)
	}
}

// An instance that stands still for a moment, as under a full collection or a
// paused container, costs time and nothing else.
func TestAFrozenInstanceLosesNothing(t *testing.T) {
	t.Parallel()
	const calls = 60
	fleet := tasksFleet(t, 3, jsonAnswers)
	work := startDriver(t, extensionTasks, startBerth(t, fleet).url(), calls)
	frozen, left := fleet[0], fleet[1:]
	if !await(t, readyWithin, func() bool { return frozen.stats(t).Tasks > 0 }) {
		t.Fatal("the instance to be frozen got no work")
	}

	frozen.signal(t, syscall.SIGSTOP)
	polls := func(s stats) int { return s.Polls }
	seen := left.sum(t, polls)
	if !await(t, readyWithin, func() bool { return left.sum(t, polls) > seen }) {
		t.Error("the other instances got no polls while one was frozen")
	}
	frozen.signal(t, syscall.SIGCONT)
	work.report(t).wantAllRight(t)
	fleet.wantToolCalls(t, calls)
}

// signal sends sig, which has effect at the process's leisure.
func (p *process) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := p.command.Process.Signal(sig); err != nil {
		t.Fatalf("%s: %v: %v", p.name, sig, err)
	}
}
