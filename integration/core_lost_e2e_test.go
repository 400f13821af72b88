//go:build e2e

package integration

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// A server that is started anew knows none of its sessions, and says so in its own way:
// calls that ran in them fail at once, and say why. The tools are not run again.
func TestCallsOfALostSessionFail(t *testing.T) {
	for _, r := range resumable {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			server := r.server
			server.rules = "[[pools]]\nsession_failover = \"notfound\"\n" + server.rules
			c := startCoreBerths(t, 2, server)
			s := openCore(t, c.any)
			var calls []coreCall
			for i := range 3 {
				tool, args, want := r.asks(fmt.Sprint("asks-", i))
				calls = append(calls, c.begin(t, s, tool, args, want))
			}
			c.awaitSeen(t, calls, "waiting", func(task coreTask) bool { return task.Status == "input_required" })

			for _, i := range c.fleet {
				i.restart(t)
			}
			// A call that comes now is refused, or fails as the others do.
			tool, args, _ := r.asks("too late")
			if id, err := s.make(c.any(), tool, args); err == nil {
				calls = append(calls, coreCall{s, id, ""})
			} else if !strings.Contains(err.Error(), "404") {
				t.Errorf("a call in the session: got %v, want 404", err)
			}
			for _, call := range calls {
				end, err := s.ask(c.any(), "tasks/result", map[string]any{"taskId": call.taskID}, nil)
				if err != nil || end.Error == nil || end.Error.Data.Reason != "session_lost" {
					t.Errorf("got %s, %v, %v, want it failed for its session", end.Result, end.Error, err)
				}
			}
			if got := c.fleet.sum(t, stats.running); got != 0 {
				t.Errorf("tools that run: got %d, want none", got)
			}
		})
	}
}

// restart kills an instance, and starts it anew at the same address.
func (i *instance) restart(t testing.TB) {
	t.Helper()
	i.kill()
	address := strings.TrimPrefix(i.base, "http://")
	again := exec.Cmd{Path: i.command.Path, Args: i.command.Args, Env: i.command.Env}
	i.process = start(t, i.name, &again)
	if !i.awaitListening(t, address) {
		t.Fatalf("%s did not start anew", i.name)
	}
}
