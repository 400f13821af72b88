//go:build e2e

package integration

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// Two berths are replaced, one after the other, behind HAProxy with its default check: no call fails, those
// that are held included. These take longer than requests have to drain, and their servers can be asked
// for nothing a second time: so each ends where it is held. What counts is that drain is over while they last: here
// a berth may close what requests are left nine seconds after it is told to go (drain_delay and drain), and a call
// takes twelve. A call of a minute under the drain of half a minute that is the default is the same case, and takes
// two minutes for two berths.
func TestBerthsAreReplacedBehindHAProxy(t *testing.T) {
	t.Parallel()
	const (
		lasts = 12 * time.Second
		each  = 10
	)
	tool := &plainTool{lasts: func() time.Duration { return lasts }}
	fleet := startLocalFleet(t, tool.only("work")).fleet
	config := configFile(t, fmt.Sprintf(`
drain_delay = "7s" # HAProxy takes 6 s to see it
drain = "2s"
[store]
url = %q
%s
[[upgrade]]
tools = ["work"]
`, redistest.Start(t).URL(), sealed()))
	at := []addresses{freeAddresses(t), freeAddresses(t)}
	berths := make([]*watched, len(at))
	for i := range at {
		berths[i] = startAt(t, at[i], fleet, nil, "--config", config)
	}
	front := startHAProxy(t, at...)
	for i := range at {
		front.await(t, i, "UP")
	}
	client := newModernClient(t)
	streams := subscribe(t, client, &watched{berth: &berth{base: strings.TrimSuffix(front.url, "/mcp")}}, 20)
	kept, fresh := startFlood(t, front.url, 4, 20*time.Millisecond, true), startFlood(t, front.url, 4, 20*time.Millisecond, false)
	var held []heldTask
	for i, leaving := range berths {
		for n := range each {
			call := fmt.Sprintf("replacing-%d-%d", i, n)
			got, err := client.send(t, leaving.url(), "tools/call", "work", map[string]any{"name": "work", "arguments": map[string]any{"call": call}})
			if err != nil || got.Result.TaskID == "" {
				t.Fatalf("making a task: got %v, %v", got, err)
			}
			held = append(held, heldTask{got.Result.TaskID, call})
		}
		leaving.signal(t, syscall.SIGTERM)
		leaving.awaitExit(t, lasts+2*lastWords)
		wantExitCode(t, leaving, 0)
		if log := leaving.output.String(); !strings.Contains(log, `"msg":"what is left"`) || strings.Contains(log, "what is left is cut") {
			t.Error("the log does not say what is left, or that something was cut")
		}
		berths[i] = startAt(t, at[i], fleet, nil, "--config", config)
		front.await(t, i, "UP")
	}
	kept.wantNoneFailed(t)
	fresh.wantNoneFailed(t)
	streams.wantCompleted(t, 20) // each by the berth that it was at
	for _, task := range held {
		got, err := client.poll(t, front.url, task.id)
		if err != nil || got.Result.Status != "completed" {
			t.Errorf("%s: got %v, %v, want it completed", task.call, got, err)
		}
	}
	tool.wantNoneTwice(t)
}
