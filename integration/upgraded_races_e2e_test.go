//go:build e2e

package integration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// Both answers that a tool waits for come at once, each through every berth: all of them
// are acknowledged, one berth goes on with the call, and the tool runs once.
func TestAnswersThatRaceThroughBerthsRunTheToolOnce(t *testing.T) {
	t.Parallel()
	const tasks = 40
	fleet := tasklessFleet(t, 3, sseAnswers)
	three := startUpgraders(t, fleet)
	client := newModernClient(t)
	crowd(t, tasks, 4, func(i int) {
		id := client.upgraded(t, three.url, "multi_input", map[string]any{"label": fmt.Sprint("race-", i)})
		client.awaitStatus(t, three.url, id, "input_required")
		var racing sync.WaitGroup
		for _, berth := range three.berths {
			for _, key := range []string{"first", "second"} {
				racing.Go(func() { client.answer(t, berth.url(), id, key) })
			}
		}
		racing.Wait()
		client.awaitStatus(t, three.url, id, "completed")
	})
	fleet.wantToolCalls(t, tasks)
	if asked, twice := fleet.sum(t, stats.questions), fleet.sum(t, stats.repeats); asked != tasks || twice != 0 {
		t.Errorf("rounds: got %d that asked back and %d that came twice, want %d and none", asked, twice, tasks)
	}
}

// Clients cancel tasks whose tool is about to end, through any berth: whichever was first,
// all berths tell the same end, and it stays. Some tools are through for certain, and some
// far from it.
func TestACancelThatRacesWithTheResultLeavesOneEnd(t *testing.T) {
	t.Parallel()
	const tasks = 200
	fleet := tasklessFleet(t, 3, sseAnswers)
	three := startUpgraders(t, fleet)
	client := newModernClient(t)
	ends := []string{"completed", "cancelled"}
	crowd(t, tasks, 6, func(i int) {
		seconds, want := 0.002*float64(rand.IntN(6)), ends
		switch i % 4 {
		case 0:
			want = ends[:1]
		case 1:
			seconds, want = 60, ends[1:]
		}
		arguments := map[string]any{"seconds": seconds, "label": fmt.Sprint("end-", i)}
		id := client.upgraded(t, three.url, "slow_compute", arguments)
		if i%4 == 0 {
			client.awaitStatus(t, three.url, id, want...)
		}
		client.acknowledged(t, three.url, "tasks/cancel", map[string]any{"taskId": id})
		end := client.awaitStatus(t, three.url, id, want...)
		for range 2 {
			for _, berth := range three.berths {
				if got := client.awaitStatus(t, berth.url(), id, ends...); got != end {
					t.Errorf("task %s: got %s, want %s as before", id, got, end)
				}
			}
		}
	})
	if !await(t, readyWithin, func() bool { return fleet.sum(t, stats.running) == 0 }) {
		t.Error("tools of cancelled calls still run, want them stopped")
	}
}

// upgraded calls a tool of the taskless server and returns the task that it becomes. What
// else comes fails the test, but does not end it: crowds call this.
func (c *modernClient) upgraded(t testing.TB, url, tool string, arguments map[string]any) string {
	t.Helper()
	got, err := c.insist(t, url, "tools/call", tool, map[string]any{"name": tool, "arguments": arguments})
	if err != nil || got.Result.TaskID == "" {
		t.Errorf("calling %s: got %v, %v, want a task", tool, got, err)
	}
	return got.Result.TaskID
}

// insist sends a request again while a busy machine's Redis is late: nothing was done then,
// or what was done may be done again.
func (c *modernClient) insist(t testing.TB, url, method, name string, params map[string]any) (got answer, err error) {
	t.Helper()
	await(t, readyWithin, func() bool {
		got, err = c.send(t, url, method, name, params)
		return err != nil || got.Error.Data.Reason != "store_unavailable"
	})
	return got, err
}

// awaitStatus polls until the task stands in one of the ways wanted, and returns which.
func (c *modernClient) awaitStatus(t testing.TB, url, taskID string, wanted ...string) string {
	t.Helper()
	var got answer
	if !await(t, readyWithin, func() bool {
		got, _ = c.poll(t, url, taskID) // a poll that failed has no status
		return slices.Contains(wanted, got.Result.Status)
	}) {
		t.Errorf("task %s: got %v, want one of %v", taskID, got, wanted)
	}
	return got.Result.Status
}

// answer gives a task one of the answers that it waits for.
func (c *modernClient) answer(t testing.TB, url, taskID, key string) {
	t.Helper()
	given := map[string]any{key: map[string]any{"action": "accept", "content": map[string]any{"name": key}}}
	c.acknowledged(t, url, "tasks/update", map[string]any{"taskId": taskID, "inputResponses": given})
}

// acknowledged sends what is answered with an empty result.
func (c *modernClient) acknowledged(t testing.TB, url, method string, params map[string]any) {
	t.Helper()
	got, err := c.insist(t, url, method, params["taskId"].(string), params)
	if err != nil || got.status != 200 || got.Error.Code != 0 {
		t.Errorf("%s: got %v, %v, want it acknowledged", method, got, err)
	}
}
