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
	const tasks, clients = 10_000, 8
	fleet := startLocalFleet(t, nil)
	redis := redistest.Start(t)
	a := startWatched(t, fleet.fleet, "--store", redis.URL())
	b := startWatched(t, fleet.fleet, "--store", redis.URL())
	a.awaitReadyz(t, storeOK)
	b.awaitReadyz(t, storeOK)
	client := newModernClient(t)
	before := [...]held{a.held(t), b.held(t)}
	crowd(t, tasks, clients, func(i int) {
		made, err := client.send(t, a.url(), "tools/call", "slow_compute", slowCompute(3600))
		if err != nil || made.Result.TaskID == "" {
			t.Errorf("creating: got %v, %v, want a task", made, err)
			return
		}
		got, err := client.poll(t, b.url(), made.Result.TaskID)
		if err != nil || got.Result.TaskID != made.Result.TaskID {
			t.Errorf("task %d: got %v, %v, want task %s", i, got, err, made.Result.TaskID)
		}
	})
	now := b.tally(t)
	late := now.away + a.metric(t, "berth_bindings_total", `outcome="local"`)
	t.Logf("%d by the store, %d by the LRU, %d by asking the fleet; Redis was late for %d", now.store, now.lru, now.asked, late)
	if now.store+now.lru+late < tasks || now.asked > late {
		t.Errorf("polls routed by the store or the LRU: got %d (Redis was late for %d), want all %d", now.store+now.lru, late, tasks)
	}
	fleet.wantExecutions(t, tasks)
	a.wantHeld(t, before[0], client)
	b.wantHeld(t, before[1], client)
}
