//go:build e2e

package integration

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// oneIn is how many replies of Redis come for each that is late: more than in life, so that
// some hundreds of calls show what befell one in a hundred.
const oneIn = 12

// startBehindLateReplies starts two berths, each with a line to Redis on which single
// replies are late once late is called.
func startBehindLateReplies(t testing.TB) (h *holders, redis *redistest.Server, late func()) {
	t.Helper()
	redis = redistest.Start(t)
	h = newHolders(t, redis.URL(), "", `
[limits]
in_flight_per_caller = 5000

[[upgrade]]
tools = ["work"]
poll_interval = "50ms"
on_store_down = "refuse"
`)
	// As it is by default: what is late is no death.
	h.config = h.reconfigured(t, `holder_lease = "`+holderLease, `holder_lease = "15s`)
	var relays []*redistest.Relay
	for range 2 {
		_, relay := h.startBehindRelay(t, redis)
		relays = append(relays, relay)
	}
	return h, redis, func() {
		for _, relay := range relays {
			relay.LateEvery.Store(oneIn)
		}
	}
}

// Single replies of Redis are late. Of berths that live no task fails: a call that did not
// become a task for all that its client knows is repeated under its key, and has one.
func TestLateRepliesFailNoTask(t *testing.T) {
	t.Parallel()
	const calls = 600
	h, _, late := startBehindLateReplies(t)
	h.tool.lasts = func() time.Duration { return time.Second }
	late()
	tasks, repeated := make([]heldTask, calls), new(atomic.Int64)
	crowd(t, calls, 60, func(i int) {
		call := fmt.Sprint("late-", i)
		tasks[i] = heldTask{h.callUnderKey(t, h.berths[i%2], call, repeated), call}
	})
	h.awaitDone(t, h.berths, tasks)
	t.Logf("%d calls were repeated", repeated.Load())
	h.tool.wantNoneTwice(t)
	for _, b := range h.berths {
		if n := b.orphans(t); n > 0 {
			t.Errorf("tasks that were taken for those of a dead holder: got %d, want none", n)
		}
	}
}

// callUnderKey repeats a call under a key as it is told to, until it is a task.
func (h *holders) callUnderKey(t testing.TB, b *watched, call string, repeated *atomic.Int64) (id string) {
	t.Helper()
	var last answer
	if !await(t, readyWithin, func() bool {
		request := modernRequest(t, b.url(), "tools/call", "work", map[string]any{"name": "work", "arguments": map[string]any{"call": call}})
		request.Header.Set("Idempotency-Key", call)
		got, err := h.client.do(request)
		if err == nil && got.Result.TaskID != "" {
			id = got.Result.TaskID
			return true
		}
		last = got
		repeated.Add(1)
		seconds, _ := strconv.Atoi(cmp.Or(got.header.Get("Retry-After"), "1"))
		<-time.After(time.Duration(seconds) * time.Second)
		return err == nil && got.status != http.StatusServiceUnavailable
	}) || id == "" {
		t.Errorf("%s became no task: %v", call, last)
	}
	return id
}

// Redis is flushed while calls are held, and single replies are late. No result is lost, and
// no task is called unknown.
func TestResultsOutliveAFlushWithLateReplies(t *testing.T) {
	t.Parallel()
	const each = 150
	h, redis, late := startBehindLateReplies(t)
	tasks := append(h.hold(t, h.berths[0], each), h.hold(t, h.berths[1], each)...)
	late()
	do(t, redis, "FLUSHALL")
	h.tool.let(names(tasks[:each/2])...)
	h.tool.let(names(tasks[each : each+each/2])...)
	<-time.After(longFlush)
	h.tool.letAll()
	h.awaitDone(t, h.berths, tasks)
	h.wantOneEnd(t, h.berths, tasks)
	h.tool.wantNoneTwice(t)
}

// longFlush is longer than berths doubt a store that was flushed: what has not been put
// back by then is called unknown.
const longFlush = 12 * time.Second
