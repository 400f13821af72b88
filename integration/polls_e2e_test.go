//go:build e2e

package integration

import (
	"sync"
	"sync/atomic"
	"testing"

	"berth/internal/storage/redistest"
)

// coalescingPair is a pair whose answers to polls serve for as long as they may.
func coalescingPair(t testing.TB, f fleet) *pair {
	t.Helper()
	config := configFile(t, "[[pools]]\ncoalesce = \"5s\"\n")
	p := &pair{redis: redistest.Start(t)}
	for i := range p.berths {
		p.berths[i] = startBerth(t, f, "--config", config, "--store", p.redis.URL())
	}
	return p
}

// Eager pollers cost the instance that holds their task next to nothing.
func TestEagerPollersAreFewRequests(t *testing.T) {
	t.Parallel()
	const pollers, each = 40, 25
	fleet := tasksFleet(t, 3, jsonAnswers)
	pair, client := coalescingPair(t, fleet), newModernClient(t)
	made := client.create(t, pair.berths[0].url(), 600)
	var polling sync.WaitGroup
	for i := range pollers {
		polling.Go(func() {
			for range each {
				if got, err := client.poll(t, pair.berths[i%2].url(), made.TaskID); err != nil || got.Result.TaskID != made.TaskID {
					t.Errorf("got %v, %v, want the task", got, err)
				}
			}
		})
	}
	polling.Wait()
	asked := fleet.sum(t, func(s stats) int { return s.Polls })
	t.Logf("%d polls were %d requests", pollers*each, asked)
	if asked > pollers*each/4 {
		t.Errorf("%d polls were %d requests, want a quarter at most", pollers*each, asked)
	}
}

// Whatever its pollers share meanwhile, who polls after a cancellation was acknowledged
// sees the task cancelled, through either berth.
func TestEagerPollersHideNoCancellation(t *testing.T) {
	t.Parallel()
	const tasks, pollers = 40, 8
	fleet := tasksFleet(t, 3, jsonAnswers)
	pair, client := coalescingPair(t, fleet), newModernClient(t)
	for i := range tasks {
		made := client.create(t, pair.berths[0].url(), 600)
		var done atomic.Bool
		var polling sync.WaitGroup
		begun := make(chan struct{}, pollers)
		for p := range pollers {
			polling.Go(func() {
				for first := true; !done.Load(); first = false {
					_, _ = client.poll(t, pair.berths[p%2].url(), made.TaskID)
					if first {
						begun <- struct{}{}
					}
				}
			})
		}
		for range pollers {
			<-begun
		}
		if got, err := client.send(t, pair.berths[i%2].url(), "tasks/cancel", made.TaskID, map[string]any{"taskId": made.TaskID}); err != nil || got.status != 200 {
			t.Errorf("cancelling: got %v, %v", got, err)
		}
		for _, berth := range pair.berths {
			if got := client.get(t, berth.url(), made.TaskID); got.Status != "cancelled" {
				t.Errorf("task %d: after the acknowledgement got %v, want it cancelled", i, got)
			}
		}
		done.Store(true)
		polling.Wait()
	}
	for i, berth := range pair.berths {
		if n := berth.count(func(r record) string { return r.Source })["coalesced"]; n == 0 {
			t.Errorf("berth %d: no poll shared an answer", i)
		}
	}
}
