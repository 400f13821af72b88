package proxy_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/redistest"
	"berth/upgrade"
)

const key = "Idempotency-Key"

// A client that repeats its call, because the answer was lost, has one task: while the
// tool runs, and after it has ended.
func TestRepeatedCallHasOneTask(t *testing.T) {
	f := newUpgraded(t, rigOptions{}, func(r *upgrade.Rule) { r.After = time.Hour })
	release := make(chan struct{})
	f.answers(until(release, sayResult(done)))
	id := f.made(key, "k")
	if again := f.made(key, "k"); again != id {
		t.Errorf("the repetition made another task")
	}
	f.eventually("a round", func() bool { return len(f.seen.of("tools/call")) == 1 })
	close(release)
	f.reaches(id, "completed")
	again := f.callTool(key, "k", "Mcp-Param-X", "other")
	if m := again.message(t); f.taskOf(again) != id || m.Result.Status != "completed" {
		t.Errorf("after its end: %v", again)
	}
	if other := f.made(key, "other"); other == id {
		t.Error("another key got the same task")
	}
	f.eventually("another round", func() bool { return len(f.seen.of("tools/call")) == 2 })
}

// Repetitions that come all at once, at two berths, make one task.
func TestRepetitionsAtOnceMakeOneTask(t *testing.T) {
	store := openStore(t, "memory:")
	berths := []*upgraded{newUpgraded(t, rigOptions{store: store}, nil), newUpgraded(t, rigOptions{store: store}, nil)}
	for _, f := range berths {
		f.answers(sayResult(done))
	}
	const callers = 20
	ids := make([]string, callers)
	var calls sync.WaitGroup
	for i := range callers {
		calls.Go(func() {
			f := berths[i%2]
			r := f.callTool(key, "k")
			ids[i] = r.message(t).Result.TaskID
		})
	}
	calls.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Fatalf("got tasks %q", ids)
		}
	}
	berths[0].reaches(ids[0], "completed")
	if n := len(berths[0].seen.of("tools/call")) + len(berths[1].seen.of("tools/call")); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}

// Whose a key is: its principal's, or that of who bears the same Authorization; and of one
// call.
func TestKeyIsOfOneCallerAndOneCall(t *testing.T) {
	f := newUpgraded(t, rigOptions{}, nil)
	f.answers(sayResult(done))
	id := f.made(key, "k", "Authorization", "Bearer one")
	if other := f.made(key, "k", "Authorization", "Bearer two"); other == id {
		t.Error("another caller got the task")
	}
	f.eventually("both rounds", func() bool { return len(f.seen.of("tools/call")) == 2 })
	before := len(f.seen.of("tools/call"))
	r := f.modern("tools/call", "work", `"name":"work","arguments":{"x":1}`, key, "k", "Authorization", "Bearer one")
	r.fails(t, http.StatusUnprocessableEntity, -32600, "idempotency_key_reused", false)
	if n := len(f.seen.of("tools/call")); n != before {
		t.Errorf("%d calls were sent", n-before)
	}
	same := message("tools/call", `"name":"work","arguments":{},`+strings.Replace(tasksMeta, `{`, `{"progressToken":7,"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",`, 1))
	again := f.do(f.request(t.Context(), http.MethodPost, strings.Replace(same, `"id":1`, `"id":"two"`, 1),
		append(modernHeader("tools/call", "work"), key, "k", "Authorization", "Bearer one")...))
	if f.taskOf(again) != id {
		t.Errorf("the same call under another id: %v", again)
	}
}

func TestKeyIsOfOnePrincipal(t *testing.T) {
	f := newUpgraded(t, rigOptions{principals: true}, nil)
	f.answers(sayResult(done))
	id := f.made(key, "k", userHeader, "alice", "Authorization", "Bearer one")
	if again := f.made(key, "k", userHeader, "alice", "Authorization", "Bearer two"); again != id {
		t.Error("a principal with a new token made another task")
	}
	if other := f.made(key, "k", userHeader, "bob", "Authorization", "Bearer one"); other == id {
		t.Error("another principal got the task")
	}
}

func TestMalformedKeyIsRefused(t *testing.T) {
	f := newUpgraded(t, rigOptions{}, nil)
	f.answers(sayResult(done))
	for name, values := range map[string][]string{
		"empty": {""}, "blank": {" "}, "long": {strings.Repeat("k", 256)}, "two": {"a", "b"},
	} {
		t.Run(name, func(t *testing.T) {
			req := f.modernRequest(t.Context(), "tools/call", "work", `"name":"work"`)
			req.Header[key] = values
			if r := f.do(req); r.status != http.StatusBadRequest || r.message(t).Error.Code != -32600 {
				t.Errorf("got %v", r)
			}
		})
	}
	if n := len(f.seen.all()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	f.made(key, strings.Repeat("k", 255))
}

// A repetition is answered where a new call would be refused.
func TestRepetitionTakesNoRoom(t *testing.T) {
	f := newUpgraded(t, rigOptions{}, func(r *upgrade.Rule) { r.LivePerProcess = 1 })
	f.answers(sayNothing)
	id := f.made(key, "k")
	if again := f.made(key, "k"); again != id {
		t.Error("another task was made")
	}
	f.callTool(key, "other").fails(t, http.StatusTooManyRequests, -31429, "too_many_tasks", true)
	f.tasks.StopCreating()
	if again := f.made(key, "k"); again != id {
		t.Error("another task was made")
	}
}

// A key whose call was refused is free.
func TestKeyOfARefusedCallIsFree(t *testing.T) {
	f := newUpgraded(t, rigOptions{principals: true}, func(r *upgrade.Rule) { r.LivePerPrincipal = 1 })
	f.answers(sayNothing, sayResult(done))
	first := f.made(userHeader, "alice")
	f.callTool(key, "k", userHeader, "alice").fails(t, http.StatusTooManyRequests, -31429, "too_many_tasks", true)
	f.modern("tasks/cancel", first, byID(first), userHeader, "alice")
	if id := f.made(key, "k", userHeader, "alice"); id == first {
		t.Error("got the task of another call")
	}
}

// While the store is away a call with a key cannot be told from its repetition, and so is
// not made, whatever the rule says of other calls.
func TestCallWithAKeyNeedsTheStore(t *testing.T) {
	redis := redistest.Start(t)
	store, err := storage.Open(redis.URL(), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	f := newUpgraded(t, rigOptions{store: store}, func(r *upgrade.Rule) { r.OnStoreDown = upgrade.StoreSync })
	f.answers(sayResult(done))
	f.reaches(f.made(key, "k"), "completed")
	redis.Kill()
	before := len(f.seen.of("tools/call"))
	f.callTool(key, "k").fails(t, http.StatusServiceUnavailable, -31503, "store_unavailable", true)
	f.callTool(key, "new").fails(t, http.StatusServiceUnavailable, -31503, "store_unavailable", true)
	if n := len(f.seen.of("tools/call")); n != before {
		t.Errorf("%d calls were sent", n-before)
	}
	if r := f.callTool(); r.message(t).Result == nil || r.message(t).Result.ResultType != "complete" {
		t.Errorf("without a key: %v", r)
	}
}

// What the store may have recorded under a key is not told as a call that was not made: it goes on once the store says so.
func TestCallThatMayBeRecordedUnderItsKeyIsNotCalledUnmade(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	line := redistest.Relay{MuteAfter: `"recorded":true`, Muted: make(chan struct{})}
	line.Start(t, redis.Addr)
	f := newUpgraded(t, rigOptions{store: openStore(t, "redis://"+line.Addr()+"/0")}, nil)
	f.background(f.tasks.Run)
	f.answers(sayResult(done))
	muted := func() bool {
		select {
		case <-line.Muted:
			return true
		default:
			return false
		}
	}
	r := f.callTool(key, "k")
	for ; !muted(); r = f.callTool(key, "k") { // an answer before that was late
		r.fails(t, http.StatusServiceUnavailable, -31503, "store_unavailable", true)
	}
	r.fails(t, http.StatusServiceUnavailable, -31503, "store_unavailable", true)
	if !strings.Contains(r.body, `"outcome":"unknown"`) {
		t.Errorf("got %v", r)
	}
	line.Mute.Store(false)
	f.eventually("the call", func() bool { return len(f.seen.of("tools/call")) == 1 })
	f.eventually("its task, by the key", func() bool { return f.callTool(key, "k").status == 200 })
	if n := len(f.seen.of("tools/call")); n != 1 {
		t.Errorf("%d calls were sent", n)
	}
}

// A step that the store may have taken is not told as one that was not.
func TestStepThatTheStoreDoesNotConfirm(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	f := newUpgraded(t, rigOptions{store: openStore(t, redis.URL())}, nil)
	f.background(f.tasks.Run)
	f.answers(sayNothing)
	id := f.made()
	redis.Stop()
	r := f.modern("tasks/cancel", id, byID(id))
	r.fails(t, http.StatusServiceUnavailable, -31503, "store_unavailable", true)
	if !strings.Contains(r.body, `"outcome":"unknown"`) {
		t.Errorf("got %v", r)
	}
	redis.Cont()
	f.reaches(id, "cancelled")
}
