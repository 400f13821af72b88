//go:build e2e

package integration

import (
	"testing"

	"berth/internal/storage/redistest"
)

// However many clients, a task's handle is good at every berth the moment its client
// has it.
func TestHandlesAreGoodAtTheOtherBerthAtOnce(t *testing.T) {
	t.Parallel()
	const tasks, clients = 250, 8
	rounds := fewerInRace(40)
	fleet := startLocalFleet(t, nil)
	redis := redistest.Start(t)
	a := startWatched(t, fleet.fleet, "--store", redis.URL())
	b := startWatched(t, fleet.fleet, "--store", redis.URL())
	a.awaitReadyz(t, storeOK)
	b.awaitReadyz(t, storeOK)
	client := newModernClient(t)
	var before [2]held // once connections are open
	for round := range rounds {
		crowd(t, tasks, clients, func(int) { handOver(t, client, a, b) })
		wantHandedOver(t, a, b, (round+1)*tasks)
		if t.Failed() {
			t.FailNow()
		}
		if round == 0 {
			before = [...]held{a.held(t), b.held(t)}
		}
	}
	fleet.wantExecutions(t, rounds*tasks)
	a.wantHeld(t, before[0], client)
	b.wantHeld(t, before[1], client)
	t.Logf("%d handles, routed by %+v", rounds*tasks, b.tally(t))
}

// handOver makes a task through one berth and polls it through the other.
func handOver(t testing.TB, client *modernClient, a, b *watched) {
	t.Helper()
	made, err := client.send(t, a.url(), "tools/call", "slow_compute", slowCompute(3600))
	if err != nil || made.Result.TaskID == "" {
		t.Errorf("creating: got %v, %v, want a task", made, err)
		return
	}
	got, err := client.poll(t, b.url(), made.Result.TaskID)
	if err != nil || got.Result.TaskID != made.Result.TaskID {
		t.Errorf("polling: got %v, %v, want task %s", got, err, made.Result.TaskID)
	}
}

// wantHandedOver fails the test unless b found n tasks without asking the fleet. What
// either berth could not put to Redis in time it may have asked for.
func wantHandedOver(t testing.TB, a, b *watched, n int) {
	t.Helper()
	now := b.tally(t)
	late := now.away + a.metric(t, "berth_bindings_total", `outcome="local"`)
	if now.store+now.lru+late < n || now.asked > late {
		t.Errorf("polls routed: got %+v (Redis was late for %d), want all %d by the store or the LRU", now, late, n)
	}
}
