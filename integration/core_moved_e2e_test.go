//go:build e2e

package integration

import (
	"fmt"
	"strings"
	"testing"
)

// A session that has moved to another instance makes tasks there, and is asked there, as
// before. What it ran at the one that is gone has failed.
func TestTasksInASessionThatHasMoved(t *testing.T) {
	for _, r := range resumable {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			fleet := r.server.fleet(t, 3)
			c := &coreBerths{config: holderConfig(t, sharedStore(t), "", r.server.rules+movingPool(fleet))}
			for range 2 {
				c.live = append(c.live, c.start(t))
			}
			s := openCore(t, func() *watched { return c.live[1] })
			tool, args, want := r.asks("before")
			before := c.begin(t, s, tool, args, want)
			c.awaitSeen(t, []coreCall{before}, "waiting", func(task coreTask) bool { return task.Status == "input_required" })
			for _, i := range fleet {
				i.restart(t)
			}
			if end, err := s.ask(c.any(), "tasks/result", map[string]any{"taskId": before.taskID}, nil); err != nil || end.Error == nil {
				t.Errorf("got %s, %v, %v, want it failed", end.Result, end.Error, err)
			}
			// One berth moves the session; the other one has seen it where it was.
			s.berth = c.first
			s.insist(t, "tools/list", map[string]any{})
			s.berth = func() *watched { return c.live[1] }
			for i := range 4 {
				tool, args, want := r.asks(fmt.Sprint("after-", i))
				call := c.begin(t, s, tool, args, want)
				end, err := s.ask(c.live[1], "tasks/result", map[string]any{"taskId": call.taskID}, func(m coreMessage) { s.answer(t, m) })
				if err != nil || !strings.Contains(string(end.Result), want) {
					t.Errorf("got %s, %v, %v, want a result with %q", end.Result, end.Error, err, want)
				}
			}
		})
	}
}

// movingPool is a fleet as a pool of the file, whose sessions move.
func movingPool(f fleet) string {
	var pool strings.Builder
	pool.WriteString("[[pools]]\nsession_failover = \"reinit\"\n")
	for _, i := range f {
		fmt.Fprintf(&pool, "[[pools.upstreams]]\nname = %q\nurl = %q\n", i.name, i.url())
	}
	return pool.String()
}
