//go:build e2e

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// burstCalls is how many calls come at the same moment.
var burstCalls = fewerInRace(3000)

// fewerInRace is n, or as many as a berth that looks for races serves in the same time.
func fewerInRace(n int) int {
	if raceEnabled {
		return n / 5
	}
	return n
}

// burstRules have every call that does not become a task refused, and let one caller make
// them all.
const burstRules = `
[limits]
in_flight_per_caller = 5000

[[upgrade]]
tools = ["work"]
poll_interval = "50ms"
on_store_down = "refuse"
`

// What comes at the same moment waits its turn at the store: every call becomes a task,
// polls go on beside them, and nobody takes Redis for lost.
func TestBurstOfCallsBecomesTasks(t *testing.T) {
	h := startHolders(t, 1, sharedStore(t), "", burstRules)
	b := h.berths[0]
	watched := h.hold(t, b, 1)
	polls := h.pollThroughout(t, b, watched[0])
	tasks := h.burst(t, b, burstCalls)
	h.tool.awaitRuns(t, len(tasks)+len(watched))
	h.tool.letAll()
	h.awaitDone(t, h.berths, tasks)
	t.Logf("polls beside the burst: %d", polls())
	h.tool.wantNoneTwice(t)
	b.wantStoreNeverLost(t)
}

// Redis goes and comes back empty while thousands of calls are held, and all of them end
// meanwhile. It is lost once and back once, and every result is there.
func TestManyHeldCallsOutliveTheirRedis(t *testing.T) {
	redis := redistest.Start(t)
	h := newHolders(t, redis.URL(), "", burstRules)
	// Until two thirds of a lease have passed nothing is called unknown: the default has room
	// for thousands to be put back.
	h.config = h.reconfigured(t, `holder_lease = "`+holderLease, `holder_lease = "15s`)
	b := h.start(t)
	tasks := append(h.burst(t, b, heldCalls/2), h.burst(t, b, heldCalls/2)...)
	h.tool.awaitRuns(t, len(tasks))
	redis.Kill()
	h.tool.letAll()
	<-time.After(longOutage)
	redis.Restart()
	back := time.Now()
	h.awaitDone(t, h.berths, tasks)
	t.Logf("all results were there %v after Redis' return", time.Since(back).Round(10*time.Millisecond))
	h.tool.wantNoneTwice(t)
	for _, what := range []string{`"store lost"`, `"store is back"`} {
		if n := strings.Count(b.output.String(), what); n != 1 {
			t.Errorf("lines of the log with %s: got %d, want 1", what, n)
		}
	}
}

// A berth that ends with thousands of calls ends them in its store, all in time.
func TestManyHeldCallsEndWithTheirBerth(t *testing.T) {
	h := startHolders(t, 2, sharedStore(t), "", burstRules)
	b := h.berths[0]
	tasks := append(h.burst(t, b, heldCalls/2), h.burst(t, b, heldCalls/2)...)
	h.tool.awaitRuns(t, len(tasks))
	b.signal(t, syscall.SIGTERM)
	b.awaitExit(t, readyWithin)
	h.awaitEach(t, h.berths[1:], tasks, "failed for the shutdown", func(_ heldTask, s seen) bool {
		return s.Status == "failed" && s.Error.Data.Reason == "shutdown"
	})
	h.tool.wantNoneTwice(t)
	h.berths[1].wantStoreNeverLost(t)
}

// heldCalls is how many calls one caller may hold by the rules' defaults.
var heldCalls = fewerInRace(5000)

// burst makes n tasks of "work" at the same moment. A berth that looks for races on a busy machine may be late for its store with one in
// a hundred of them, which are made again.
func (h *holders) burst(t testing.TB, b *watched, n int) []heldTask {
	t.Helper()
	tasks := make([]heldTask, n)
	first := h.made
	h.made += n
	var refused, late atomic.Int64
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			<-begin
			tasks[i].call = fmt.Sprintf("burst-%d", first+i)
			got, err := h.call(t, b, "work", tasks[i].call)
			for raceEnabled && got.Error.Data.Reason == "store_unavailable" && late.Add(1) <= int64(n/100) {
				time.Sleep(time.Second) // as it says
				got, err = h.call(t, b, "work", tasks[i].call)
			}
			tasks[i].id = got.Result.TaskID
			if tasks[i].id == "" && refused.Add(1) == 1 {
				t.Errorf("the first call that became no task: got %v, %v", got, err)
			}
		})
	}
	ready.Wait()
	began := time.Now()
	close(begin)
	done.Wait()
	t.Logf("%d calls at the same moment were answered within %v", n, time.Since(began).Round(time.Millisecond))
	if refused.Load() > 0 {
		t.Fatalf("calls that became no task: got %d of %d, want none", refused.Load(), n)
	}
	return tasks
}

// pollThroughout polls a task through b, again and again, until the function that it returns
// is called, which says how often. Each poll has to show the task.
func (h *holders) pollThroughout(t testing.TB, b *watched, task heldTask) (stop func() int) {
	t.Helper()
	const pollers = 8
	end := make(chan struct{})
	var polls atomic.Int64
	var running sync.WaitGroup
	for range pollers {
		running.Go(func() {
			for !isClosed(end) {
				got, err := h.client.poll(t, b.url(), task.id)
				if t.Context().Err() != nil {
					return // the test has failed
				}
				var whole struct{ Result seen }
				if err != nil || got.status != http.StatusOK || json.Unmarshal([]byte(got.body), &whole) != nil || whole.Result.Status == "" {
					t.Errorf("a poll beside the burst: got %v, %v, want the task", got, err)
					return
				}
				polls.Add(1)
				<-time.After(5 * time.Millisecond)
			}
		})
	}
	return func() int {
		close(end)
		running.Wait()
		return int(polls.Load())
	}
}

func (b *watched) wantStoreNeverLost(t testing.TB) {
	t.Helper()
	for line := range strings.Lines(b.output.String()) {
		if strings.Contains(line, `"store lost"`) {
			t.Errorf("Redis, which was well, was taken for lost: %s", line)
		}
	}
}
