//go:build e2e

package integration

import "testing"

// oneAtATime is a rule with a queue.
const oneAtATime = `
[[upgrade]]
tools = ["slow_compute"]
concurrency = 1
poll_interval = "100ms"
`

// A call that is cancelled while it waits for its turn leaves the queue, and those behind
// it move up. It used to stay there, first in the queue and never to go.
func TestACancelledCallLeavesTheQueue(t *testing.T) {
	t.Parallel()
	fleet := tasklessFleet(t, 1, jsonAnswers)
	url := startBerth(t, fleet, "--config", configFile(t, oneAtATime)).url()
	client := newModernClient(t)
	var ids []string
	for _, label := range []string{"runs", "is cancelled", "waits"} {
		ids = append(ids, client.upgraded(t, url, "slow_compute", map[string]any{"seconds": 0.5, "label": label}))
	}
	client.acknowledged(t, url, "tasks/cancel", map[string]any{"taskId": ids[1]})
	client.awaitStatus(t, url, ids[2], "completed")
	client.awaitStatus(t, url, ids[1], "cancelled")
	fleet.wantToolCalls(t, 2)
}
