package integration

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"berth/internal/storage/redistest"
)

// holderLease is how long the berths of these tests take a silent holder for alive. An
// orphan is to be ended after it and two ticks, of a third of it each.
const holderLease = "1s"

// heldRules are rules for the tool's calls: those of "work" are sent at once, those of
// "queued" one at a time to each upstream.
const heldRules = `
[[upgrade]]
tools = ["work"]
poll_interval = "50ms"

[[upgrade]]
tools = ["queued"]
poll_interval = "50ms"
concurrency = 1
`

// holders are berths that hold calls to one fleet, whose tool is plain, in one store.
type holders struct {
	tool   *plainTool
	fleet  *localFleet
	client *modernClient
	config string // path; the same for all
	pooled bool   // the fleet is in the file
	berths []*watched
	made   int // calls so far
}

// startHolders starts n berths with one store. keys are lines of [store] beside it.
func startHolders(t testing.TB, n int, url, keys, rules string) *holders {
	t.Helper()
	h := newHolders(t, url, keys, rules)
	for range n {
		h.start(t)
	}
	return h
}

func newHolders(t testing.TB, url, keys, rules string) *holders {
	t.Helper()
	h := &holders{tool: &plainTool{}, client: newModernClient(t)}
	h.fleet = startLocalFleet(t, h.tool.serve)
	h.config = holderConfig(t, url, keys, rules)
	return h
}

func holderConfig(t testing.TB, url, keys, rules string) string {
	t.Helper()
	return configFile(t, fmt.Sprintf("drain = \"2s\"\ndrain_held = \"2s\"\n[store]\nurl = %q\nholder_lease = %q\n%s\n%s", url, holderLease, keys, rules))
}

// start starts one more berth.
func (h *holders) start(t testing.TB) *watched {
	t.Helper()
	var named fleet // on the command line
	if !h.pooled {
		named = h.fleet.fleet
	}
	b := startWatched(t, named, "--config", h.config)
	h.berths = append(h.berths, b)
	return b
}

// heldTask is a task that a client was given, and the name of its call.
type heldTask struct{ id, call string }

// make makes n tasks of one tool through b, some at a time.
func (h *holders) make(t testing.TB, b *watched, tool string, n int) []heldTask {
	t.Helper()
	tasks := make([]heldTask, n)
	first := h.made
	h.made += n
	crowd(t, n, 16, func(i int) {
		call := fmt.Sprintf("%s-%d", tool, first+i)
		got, err := h.call(t, b, tool, call)
		if err != nil || got.Result.TaskID == "" {
			t.Errorf("making a task: got %v, %v, want its handle", got, err)
		}
		tasks[i] = heldTask{got.Result.TaskID, call}
	})
	if t.Failed() {
		t.FailNow()
	}
	return tasks
}

func (h *holders) call(t testing.TB, b *watched, tool, call string) (answer, error) {
	t.Helper()
	return h.client.send(t, b.url(), "tools/call", tool, map[string]any{"name": tool, "arguments": map[string]any{"call": call}})
}

// hold makes n tasks of "work" through b, and waits until the tool runs them.
func (h *holders) hold(t testing.TB, b *watched, n int) []heldTask {
	t.Helper()
	before := h.tool.running()
	tasks := h.make(t, b, "work", n)
	h.tool.awaitRuns(t, before+n)
	return tasks
}

// seen is a task as a poll shows it.
type seen struct {
	Status  string          `json:"status"`
	Message string          `json:"statusMessage"`
	Result  json.RawMessage `json:"result"`
	Error   struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Reason          string `json:"reason"`
			MayHaveExecuted *bool  `json:"mayHaveExecuted"`
		} `json:"data"`
	} `json:"error"`

	object string // as it came, without what differs between requests
}

func (s seen) ended() bool {
	return s.Status == "completed" || s.Status == "failed" || s.Status == "cancelled"
}

// lost reports whether the task failed because its holder is gone.
func (s seen) lost(mayHaveExecuted bool) bool {
	data := s.Error.Data
	return s.Status == "failed" && s.Error.Code == -32603 && data.Reason == "holder_lost" &&
		data.MayHaveExecuted != nil && *data.MayHaveExecuted == mayHaveExecuted
}

// look polls a task once. ok is false where nobody could say: the connection broke, or
// the answer was 503. The test fails if the task is called unknown, or for any other
// answer that is none.
func (h *holders) look(t testing.TB, b *watched, task heldTask) (s seen, ok bool) {
	t.Helper()
	got, err := h.client.poll(t, b.url(), task.id)
	if err != nil || got.status == http.StatusServiceUnavailable {
		return seen{}, false
	}
	var whole struct{ Result json.RawMessage }
	if json.Unmarshal([]byte(got.body), &whole) != nil || json.Unmarshal(whole.Result, &s) != nil || s.Status == "" {
		t.Errorf("polling %s: got %v, want the task", task.call, got)
		return seen{}, false
	}
	s.object = string(whole.Result)
	return s, true
}

// awaitEach polls tasks through the berths given, each through any of them, until what
// they show is as wanted.
func (h *holders) awaitEach(t testing.TB, berths []*watched, tasks []heldTask, what string, wanted func(heldTask, seen) bool) {
	t.Helper()
	crowd(t, len(tasks), 8, func(i int) {
		var last seen
		if !await(t, readyWithin, func() bool {
			s, ok := h.look(t, berths[rand.IntN(len(berths))], tasks[i])
			if ok {
				last = s
			}
			return ok && wanted(tasks[i], s) || t.Failed()
		}) {
			t.Errorf("%s: got %s, want it %s", tasks[i].call, last.object, what)
		}
	})
}

// awaitDone waits until tasks are completed, each with its own call's result.
func (h *holders) awaitDone(t testing.TB, berths []*watched, tasks []heldTask) {
	t.Helper()
	h.awaitEach(t, berths, tasks, "completed with its result", func(task heldTask, s seen) bool {
		return s.Status == "completed" && string(s.Result) == h.tool.result(task.call)
	})
}

// awaitLost waits until tasks have failed because their holder is gone.
func (h *holders) awaitLost(t testing.TB, berths []*watched, tasks []heldTask, mayHaveExecuted bool) {
	t.Helper()
	h.awaitEach(t, berths, tasks, fmt.Sprintf("failed as holder_lost, mayHaveExecuted %v", mayHaveExecuted),
		func(_ heldTask, s seen) bool { return s.lost(mayHaveExecuted) })
}

// wantOneEnd fails the test unless all berths show the same end of each task.
func (h *holders) wantOneEnd(t testing.TB, berths []*watched, tasks []heldTask) {
	t.Helper()
	var mu sync.Mutex // guards ends
	ends := map[string]string{}
	for _, b := range berths {
		h.awaitEach(t, []*watched{b}, tasks, "ended, and as before", func(task heldTask, s seen) bool {
			mu.Lock()
			defer mu.Unlock()
			if s.ended() && ends[task.id] == "" {
				ends[task.id] = s.object
			}
			return s.ended() && s.object == ends[task.id]
		})
	}
}

// sharedStore is a store that all berths of a test share.
func sharedStore(t testing.TB) string { return redistest.Start(t).URL() }
