//go:build e2e

package integration

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// E15: a client that has its handle polls it through another berth, at once.
func TestHandleResolvesThroughTheOtherBerthAtOnce(t *testing.T) {
	t.Parallel()
	tasks := 10_000
	if raceEnabled {
		tasks = 2000 // the detector makes a berth several times slower
	}
	h := startHolders(t, 2, sharedStore(t), "", heldRules)
	h.tool.letAll()
	crowd(t, tasks, 4, func(i int) {
		call := "work-" + strconv.Itoa(i)
		made, err := h.call(t, h.berths[i%2], "work", call)
		if err != nil || made.Result.TaskID == "" {
			t.Errorf("making a task: got %v, %v, want its handle", made, err)
			return
		}
		if got, err := h.client.poll(t, h.berths[1-i%2].url(), made.Result.TaskID); err != nil || got.Result.TaskID != made.Result.TaskID {
			t.Errorf("polling %s: got %v, %v, want the task", call, got, err)
		}
	})
	h.tool.wantNoneTwice(t)
}

// E4: a berth dies between the record and its client's handle. Nobody goes on with such a
// call, and nothing stays of it for longer than it would have lived.
func TestTaskThatNobodyWasToldOfIsNeverSent(t *testing.T) {
	t.Parallel()
	const untold = "untold"
	redis := redistest.Start(t)
	h := newHolders(t, redis.URL(), "", `
[[upgrade]]
tools = ["`+untold+`", "work"]
ttl = "2s"
`)
	h.tool.letAll()
	relay := &redistest.Relay{MuteAfter: `"tool":"` + untold, Muted: make(chan struct{})}
	victim, other := h.startBehind(t, relay, redis), h.start(t)
	if made, err := h.call(t, other, "work", "first"); err != nil || made.Result.TaskID == "" { // from now on the server knows the script
		t.Fatalf("making a task: got %v, %v, want its handle", made, err)
	}
	told := make(chan answer, 1)
	go func() {
		got, _ := h.call(t, victim, untold, untold) // its connection breaks
		told <- got
	}()
	<-relay.Muted
	victim.kill()
	if got := <-told; got.status != 0 {
		t.Fatalf("the client was told %v", got)
	}
	if !await(t, readyWithin, func() bool { return other.orphans(t) == 1 }) {
		t.Error("nobody ended the task")
	}
	if n := other.metric(t, "berth_upgrade_adopted_total"); n != 0 || h.tool.ran(untold) != 0 {
		t.Errorf("got %d berths that went on with the call, and %d runs, want none", n, h.tool.ran(untold))
	}
	var left []string
	if !await(t, readyWithin, func() bool {
		left = redis.Keys("berth:upgrade:{T*", "berth:upgrade:holder:*:*")
		return len(left) == 0
	}) {
		t.Errorf("keys after the task's life: got %q, want none", left)
	}
	if leases := redis.Keys("berth:upgrade:holder:*"); len(leases) != 1 {
		t.Errorf("leases: got %q, want that of the berth that lives", leases)
	}
}

// A store that is down keeps no client waiting: the call stays a plain one, or is refused
// before the tool runs.
func TestStoreThatIsDownIsToldAsTheRuleSays(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	h := startHolders(t, 1, redis.URL(), "", `
[[upgrade]]
tools = ["work"]
on_store_down = "sync"
[[upgrade]]
tools = ["careful"]
on_store_down = "refuse"
`)
	h.tool.letAll()
	for _, fault := range []struct {
		name        string
		befall, end func()
	}{
		{"frozen", redis.Stop, redis.Cont},
		{"killed", redis.Kill, func() { redis.Restart() }},
	} {
		b := h.berths[0]
		b.awaitReadyz(t, storeOK)
		before := h.tool.running()
		fault.befall()
		for _, when := range []string{"at once", "known"} {
			began := time.Now()
			got, err := h.call(t, b, "careful", "never")
			t.Logf("%s, %s: refused after %v", fault.name, when, time.Since(began).Round(time.Millisecond))
			if err != nil || got.status != http.StatusServiceUnavailable || got.Error.Code != -31503 {
				t.Errorf("%s, %s: got %v, %v, want 503 and -31503", fault.name, when, got, err)
			}
			if n := h.tool.running(); n != before {
				t.Errorf("%s, %s: tools run: got %d, want none", fault.name, when, n-before)
			}
			b.awaitReadyz(t, storeAway)
		}
		began := time.Now()
		got, err := h.call(t, b, "work", fault.name)
		t.Logf("%s: answered after %v", fault.name, time.Since(began).Round(time.Millisecond))
		if err != nil || !strings.Contains(got.body, "done "+fault.name) {
			t.Errorf("%s: got %v, %v, want the plain answer", fault.name, got, err)
		}
		if n := b.metric(t, "berth_upgrade_unrecorded_total"); n < 3 {
			t.Errorf("%s: calls that the store did not take: got %d, want 3 or more", fault.name, n)
		}
		fault.end()
	}
	h.tool.wantNoneTwice(t)
}
