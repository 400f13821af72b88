//go:build e2e

package integration

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// resumable are servers that resume the streams of their calls, and tools of theirs: one
// that asks, and one that takes so long.
var resumable = []struct {
	name   string
	server legacyServer
	asks   func(call string) (tool string, args map[string]any, want string)
	slow   func(call string, seconds float64) (tool string, args map[string]any, want string)
}{
	{"server-everything", legacyServers[2], everythingAsks, everythingSlow},
	{"SDK v1's interactive tools", legacyServers[0], confirms("Deleted '%s'"), computes},
	{"SDK v1 that refuses what it cannot replay", legacyServers[1], confirms("Deleted '%s'"), computes},
	{"go-sdk with events", legacyServers[3], confirms("%s deleted"), computes},
}

func everythingAsks(call string) (string, map[string]any, string) {
	return "trigger-elicitation-request", map[string]any{"call": call}, "User provided"
}

func everythingSlow(call string, seconds float64) (string, map[string]any, string) {
	args := map[string]any{"duration": seconds, "steps": 10 * seconds, "call": call}
	return "trigger-long-running-operation", args, "Long running operation completed"
}

func confirms(want string) func(call string) (string, map[string]any, string) {
	return func(call string) (string, map[string]any, string) {
		return "confirm_delete", map[string]any{"filename": call}, fmt.Sprintf(want, call)
	}
}

func computes(call string, seconds float64) (string, map[string]any, string) {
	return "slow_compute", map[string]any{"seconds": seconds, "label": call}, call + " done"
}

// coreBerths are berths with one store before a fleet, which die and are replaced.
type coreBerths struct {
	fleet  fleet
	config string

	mu   sync.Mutex // guards live
	live []*watched
}

func startCoreBerths(t testing.TB, n int, server legacyServer) *coreBerths {
	t.Helper()
	c := &coreBerths{fleet: server.fleet(t, 3), config: holderConfig(t, sharedStore(t), "", server.rules)}
	for range n {
		c.live = append(c.live, c.start(t))
	}
	return c
}

func (c *coreBerths) start(t testing.TB) *watched {
	t.Helper()
	return startWatched(t, c.fleet, "--config", c.config)
}

func (c *coreBerths) any() *watched {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live[rand.IntN(len(c.live))]
}

// first is the berth that is killed first.
func (c *coreBerths) first() *watched {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live[0]
}

// killFirst kills the first berth.
func (c *coreBerths) killFirst() {
	b := c.first()
	c.mu.Lock()
	c.live = c.live[1:]
	c.mu.Unlock()
	b.kill()
}

// coreCall is a call in flight, and what its result must have in it.
type coreCall struct {
	session      *coreSession
	taskID, want string
}

func (c *coreBerths) begin(t testing.TB, s *coreSession, tool string, args map[string]any, want string) coreCall {
	t.Helper()
	id, err := s.make(c.first(), tool, args)
	if err != nil || id == "" {
		t.Fatalf("making a task of %s: got %q, %v", tool, id, err)
	}
	return coreCall{s, id, want}
}

// awaitSeen waits until a berth that is not the holder shows a call as wanted.
func (c *coreBerths) awaitSeen(t testing.TB, calls []coreCall, what string, wanted func(coreTask) bool) {
	t.Helper()
	for _, call := range calls {
		var task coreTask
		if !await(t, readyWithin, func() bool { task = call.session.look(t, call.taskID); return wanted(task) }) {
			t.Fatalf("got %+v, want it %s", task, what)
		}
	}
}

func (c coreCall) wantDone(t testing.TB) {
	t.Helper()
	end := c.session.settle(t, c.taskID, func() {})
	if end.Error != nil || !strings.Contains(string(end.Result), c.want) || !strings.Contains(string(end.Result), c.taskID) {
		t.Errorf("got %s, %v, want a result with %q", end.Result, end.Error, c.want)
	}
}

// Where a server does not resume its streams, what a berth held is lost with it: the tasks
// say so, and the tools are not run again.
func TestCoreCallsThatCannotBeResumedAreLostWithTheirHolder(t *testing.T) {
	for name, fleet := range map[string]func(t testing.TB, n int) fleet{
		"SDK v1": func(t testing.TB, n int) fleet { return interactiveFleet(t, n, noReplays) },
		"go-sdk": func(t testing.TB, n int) fleet { return sessionsFleet(t, n, false) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCoreBerths(t, 2, legacyServer{fleet: fleet, rules: suiteLikeRules})
			s := openCore(t, c.any)
			var calls []coreCall
			for i := range 6 {
				tool, args, want := computes(fmt.Sprint("slow-", i), 4)
				calls = append(calls, c.begin(t, s, tool, args, want))
			}
			c.awaitSeen(t, calls, "at work", func(task coreTask) bool { return task.Message != "" })
			c.killFirst()
			for _, call := range calls {
				if end := s.settle(t, call.taskID, func() {}); !end.Error.lost() {
					t.Errorf("got %s, %v, want the holder lost", end.Result, end.Error)
				}
			}
			if got := c.fleet.sum(t, stats.repeats); got != 0 {
				t.Errorf("calls that came twice: got %d, want none", got)
			}
		})
	}
}
