//go:build e2e

package integration

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// nativeTask is a task that a server of 2025-11-25 makes itself, as a modern client knows it. Each
// request about it may reach another berth.
type nativeTask struct {
	client *askingClient
	urls   func() string
	id     string
}

// shownTask is how the Tasks extension shows one.
type shownTask struct {
	ResultType     string              `json:"resultType"`
	TaskID         string              `json:"taskId"`
	Status         string              `json:"status"`
	StatusMessage  string              `json:"statusMessage"`
	CreatedAt      string              `json:"createdAt"`
	TTLMs          *float64            `json:"ttlMs"`
	PollIntervalMs float64             `json:"pollIntervalMs"`
	InputRequests  map[string]question `json:"inputRequests"`
	Result         struct {
		ResultType string                  `json:"resultType"`
		Content    []struct{ Text string } `json:"content"`
	} `json:"result"`
}

const tasksExtension = "io.modelcontextprotocol/tasks"

// tasksClient is one that knows the extension, or not.
func tasksClient(t testing.TB, declares bool) *askingClient {
	client := newAskingClient(t)
	client.capabilities = map[string]any{"elicitation": map[string]any{}}
	if declares {
		client.capabilities["extensions"] = map[string]any{tasksExtension: map[string]any{}}
	}
	return client
}

// startResearch calls the one tool of server-everything that is a task or nothing.
func startResearch(t testing.TB, urls func() string, ambiguous bool) *nativeTask {
	t.Helper()
	n := &nativeTask{client: tasksClient(t, true), urls: urls}
	got := n.send(t, "tools/call", map[string]any{"name": "simulate-research-query", "arguments": map[string]any{"topic": "python", "ambiguous": ambiguous}})
	if got.ResultType != "task" || got.TaskID == "" || got.Status != "working" || got.TTLMs == nil || *got.TTLMs != 300000 || got.PollIntervalMs != 1000 || got.CreatedAt == "" {
		t.Fatalf("tools/call: got %+v, want a task of the extension", got)
	}
	n.id = got.TaskID
	return n
}

// send sends a request that must have a result.
func (n *nativeTask) send(t testing.TB, method string, params map[string]any) (shown shownTask) {
	t.Helper()
	got, err := n.client.ask(t, n.urls(), method, params)
	if err != nil || got.Error != nil {
		t.Fatalf("%s: got %v, %v, want a result", method, got, err)
	}
	var answer struct{ Result *shownTask }
	answer.Result = &shown
	if err := json.Unmarshal([]byte(got.text), &answer); err != nil {
		t.Fatal(err)
	}
	return shown
}

func (n *nativeTask) about(t testing.TB, method string) shownTask {
	t.Helper()
	return n.send(t, method, map[string]any{"taskId": n.id})
}

// pollUntil polls until the task is in one of these states.
func (n *nativeTask) pollUntil(t testing.TB, states ...string) (shown shownTask) {
	t.Helper()
	reached := await(t, 30*time.Second, func() bool {
		shown = n.about(t, "tasks/get")
		if shown.ResultType != "complete" || shown.TaskID != n.id {
			t.Fatalf("tasks/get: got %+v, want the state of %s", shown, n.id)
		}
		return slices.Contains(states, shown.Status)
	})
	if !reached {
		t.Fatalf("got %+v, want the task to become %v", shown, states)
	}
	return shown
}

func (s shownTask) said() string {
	if len(s.Result.Content) == 0 {
		return ""
	}
	return s.Result.Content[0].Text
}

// nativeSites are the ways to reach the one published server that makes tasks.
var nativeSites = []struct {
	name string
	site func(t testing.TB) *legacySite
}{
	{"streamable-http", everythingSite},
	{"http-sse", everythingSSESite},
	{"stdio", everythingStdioSite},
}

// eachNative runs a test with one berth, and with two on one Redis that get its requests in turn.
func eachNative(t *testing.T, test func(t *testing.T, urls func() string)) {
	for _, native := range nativeSites {
		for _, berths := range []int{1, 2} {
			t.Run(native.name+"/"+[]string{"", "one berth", "two berths"}[berths], func(t *testing.T) {
				t.Parallel()
				site, store := native.site(t), sharedStore(t)
				var urls []string
				for range berths {
					urls = append(urls, site.start(t, "", "--store", store).url())
				}
				next := -1
				test(t, func() string {
					next++
					return urls[next%len(urls)]
				})
			})
		}
	}
}

func TestNativeTaskIsToldOfAsTheExtension(t *testing.T) {
	eachNative(t, func(t *testing.T, urls func() string) {
		client := tasksClient(t, true)
		got, err := client.ask(t, urls(), "server/discover", nil)
		if err != nil || got.Error != nil {
			t.Fatalf("server/discover: got %v, %v", got, err)
		}
		var extensions map[string]json.RawMessage
		_ = json.Unmarshal(got.Result.Capabilities["extensions"], &extensions)
		if string(extensions[tasksExtension]) != "{}" || got.Result.Capabilities["tasks"] != nil {
			t.Errorf("capabilities: got %s, want the extension, and no tasks of the core", got.text)
		}
		plain := tasksClient(t, false)
		got, err = plain.ask(t, urls(), "tools/call", map[string]any{"name": "simulate-research-query", "arguments": map[string]any{"topic": "x"}})
		if err != nil || got.status != 400 || got.Error == nil || got.Error.Code != -32021 || !strings.Contains(got.text, tasksExtension) {
			t.Errorf("a client without the extension: got %v, %v, want -32021", got, err)
		}
		got, err = client.ask(t, urls(), "tools/call", map[string]any{"name": "echo", "arguments": map[string]any{"message": "plain"}})
		if err != nil || got.Result.ResultType != "complete" || got.said() != "Echo: plain" {
			t.Errorf("a tool that is no task: got %v, %v, want its result", got, err)
		}
	})
}

func TestNativeTaskIsPolledToItsResult(t *testing.T) {
	eachNative(t, func(t *testing.T, urls func() string) {
		n := startResearch(t, urls, false)
		got := n.pollUntil(t, "completed", "failed", "cancelled")
		if got.Status != "completed" || got.Result.ResultType != "complete" || !strings.HasPrefix(got.said(), "# Research Report: python") {
			t.Errorf("got %+v, want the report", got)
		}
		if again := n.about(t, "tasks/get"); again.said() != got.said() {
			t.Errorf("asked once more: got %+v, want the same", again)
		}
		if got := n.about(t, "tasks/cancel"); got.ResultType != "complete" {
			t.Errorf("tasks/cancel of what has ended: got %+v, want an acknowledgement", got)
		}
	})
}

func TestNativeTaskIsCancelled(t *testing.T) {
	eachNative(t, func(t *testing.T, urls func() string) {
		n := startResearch(t, urls, false)
		if got := n.about(t, "tasks/cancel"); got.ResultType != "complete" || got.TaskID != "" {
			t.Errorf("tasks/cancel: got %+v, want an acknowledgement", got)
		}
		n.pollUntil(t, "cancelled")
	})
}

func TestNativeTaskIsItsCallersAlone(t *testing.T) {
	eachNative(t, func(t *testing.T, urls func() string) {
		n := startResearch(t, urls, false)
		for _, method := range []string{"tasks/get", "tasks/cancel"} {
			other := tasksClient(t, true)
			other.token = "another"
			got, err := other.ask(t, urls(), method, map[string]any{"taskId": n.id})
			if err != nil || got.status != 200 || got.Error == nil || got.Error.Code != -32602 {
				t.Errorf("%s by another caller: got %v, %v, want -32602", method, got, err)
			}
			got, err = n.client.ask(t, urls(), method, map[string]any{"taskId": "no-such-task"})
			if err != nil || got.status != 200 || got.Error == nil || got.Error.Code != -32602 {
				t.Errorf("%s of an unknown task: got %v, %v, want -32602", method, got, err)
			}
			got, err = tasksClient(t, false).ask(t, urls(), method, map[string]any{"taskId": n.id})
			if err != nil || got.status != 400 || got.Error == nil || got.Error.Code != -32021 {
				t.Errorf("%s without the extension: got %v, %v, want -32021", method, got, err)
			}
		}
		n.pollUntil(t, "working", "completed")
	})
}

// update answers all that a task asks.
func (n *nativeTask) update(t testing.TB, asked shownTask, answer map[string]any) {
	t.Helper()
	answers := map[string]any{}
	for key := range asked.InputRequests {
		answers[key] = answer
	}
	got := n.send(t, "tasks/update", map[string]any{"taskId": n.id, "inputResponses": answers})
	if got.ResultType != "complete" || got.TaskID != "" {
		t.Errorf("tasks/update: got %+v, want an acknowledgement", got)
	}
}

// The server tells its question once, on the stream of one tasks/result. Each poll, and the answer,
// may reach another berth.
func TestNativeTaskAsksItsClient(t *testing.T) {
	eachNative(t, func(t *testing.T, urls func() string) {
		n := startResearch(t, urls, true)
		asked := n.pollUntil(t, "input_required", "completed", "failed")
		for range 4 {
			again := n.about(t, "tasks/get")
			if again.Status != "input_required" || len(again.InputRequests) != 1 || fmt.Sprint(again.InputRequests) != fmt.Sprint(asked.InputRequests) {
				t.Fatalf("polled again: got %+v, want what was asked before: %+v", again, asked)
			}
		}
		for key, q := range asked.InputRequests {
			if q.Method != "elicitation/create" || !strings.Contains(q.Params.Message, "multiple interpretations") {
				t.Errorf("%s: got %+v, want the server's question", key, q)
			}
		}
		unknown := map[string]any{"taskId": n.id, "inputResponses": map[string]any{"ask-nothing": map[string]any{"action": "decline"}}}
		if got := n.send(t, "tasks/update", unknown); got.ResultType != "complete" {
			t.Errorf("an answer to nothing: got %+v, want an acknowledgement", got)
		}
		answer := map[string]any{"action": "accept", "content": map[string]any{"interpretation": "snake"}}
		n.update(t, asked, answer)
		n.update(t, asked, map[string]any{"action": "decline"}) // too late
		got := n.pollUntil(t, "completed", "failed", "cancelled", "input_required")
		if got.Status != "completed" || !strings.HasPrefix(got.said(), "# Research Report: python (snake)") {
			t.Errorf("got %+v, want the report about what was answered", got)
		}
	})
}

// The published client of the Tasks extension, before a server that knows tasks of the core alone.
func TestTasksClientOfNativeTasks(t *testing.T) {
	eachNative(t, func(t *testing.T, urls func() string) {
		url := roundRobin(t, slices.Compact([]string{urls(), urls()}))
		got := drive(t, func(t testing.TB) *exec.Cmd {
			return nodeCommand(t, filepath.Join(clientsDir, "extension-tasks.js"), "--tools", "native")
		}, url, 6)
		t.Logf("%v", got)
		got.wantAllRight(t)
	})
}

// A subscription is told of each step of its task, what it asks included.
func TestNativeTaskIsToldOfToSubscribers(t *testing.T) {
	eachNative(t, func(t *testing.T, urls func() string) {
		n := startResearch(t, urls, true)
		told := n.client.listen(t, urls(), map[string]any{"taskIds": []string{n.id}})
		var got []string
		for deadline := time.After(30 * time.Second); len(got) == 0 || got[len(got)-1] != "completed"; {
			select {
			case m, open := <-told:
				if !open {
					t.Fatalf("the stream ended after %q", got)
				}
				if m.Method != "notifications/tasks" {
					continue
				}
				got = append(got, m.Params.Status)
				if m.Params.TaskID != n.id {
					t.Errorf("got a notification about %q, want %q", m.Params.TaskID, n.id)
				}
				if m.Params.Status == "input_required" {
					n.update(t, shownTask{InputRequests: m.Params.InputRequests}, map[string]any{"action": "accept", "content": map[string]any{"interpretation": "snake"}})
				}
			case <-deadline:
				t.Fatalf("got %q, want the task's end", got)
			}
		}
		if !slices.Contains(got, "input_required") {
			t.Errorf("got %q, want what is asked among it", got)
		}
	})
}

// Whether the berth that made a task dies or ends, after it has heard the question that the server
// tells once, another one goes on.
func TestNativeTaskOutlivesTheBerthThatMadeIt(t *testing.T) {
	for name, end := range map[string]func(b *berth){
		"killed": func(b *berth) { b.kill() },
		"ended":  func(b *berth) { b.signal(t, syscall.SIGTERM); b.awaitExit(t, 20*time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site, store := everythingSite(t), sharedStore(t)
			first, second := site.start(t, "", "--store", store), site.start(t, "", "--store", store)
			at := first
			n := startResearch(t, func() string { return at.url() }, true)
			n.pollUntil(t, "input_required")
			end(first)
			at = second
			n.update(t, n.pollUntil(t, "input_required"), map[string]any{"action": "accept", "content": map[string]any{"interpretation": "comedy"}})
			if got := n.pollUntil(t, "completed", "failed"); !strings.HasPrefix(got.said(), "# Research Report: python (comedy)") {
				t.Errorf("got %+v, want the report about what was answered", got)
			}
		})
	}
}
