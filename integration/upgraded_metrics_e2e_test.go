//go:build e2e

package integration

import (
	"fmt"
	"testing"
)

// A call that is answered before it becomes a task is no failed one, nor is one that its
// client gives up.
func TestRoundsAreCountedByTheirEnd(t *testing.T) {
	t.Parallel()
	rules := configFile(t, `
[[upgrade]]
tools = ["slow_compute", "failing_job", "confirm_delete"]
after = "1s"
`)
	berth := startWatched(t, tasklessFleet(t, 1, jsonAnswers), "--config", rules)
	client := newModernClient(t)
	call := func(tool string, arguments map[string]any) string {
		got, err := client.send(t, berth.url(), "tools/call", tool, map[string]any{"name": tool, "arguments": arguments})
		if err != nil || got.status != 200 {
			t.Fatalf("calling %s: got %v, %v, want an answer", tool, got, err)
		}
		return got.Result.TaskID
	}
	call("confirm_delete", map[string]any{"filename": "asked"})
	call("failing_job", map[string]any{"label": "answered"})
	done := call("slow_compute", map[string]any{"seconds": 2, "label": "done"})
	cancelled := call("slow_compute", map[string]any{"seconds": 60, "label": "cancelled"})
	client.acknowledged(t, berth.url(), "tasks/cancel", map[string]any{"taskId": cancelled})
	client.awaitStatus(t, berth.url(), done, "completed")

	for outcome, want := range map[string]int{"answered": 2, "result": 1, "given_up": 1, "failed": 0} {
		label := fmt.Sprintf("outcome=%q", outcome)
		got := 0
		if !await(t, readyWithin, func() bool {
			got = berth.metric(t, "berth_upgrade_round_duration_seconds_count", label)
			return got == want
		}) {
			t.Errorf("rounds %s: got %d, want %d", outcome, got, want)
		}
	}
}
