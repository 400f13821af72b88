package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
	"berth/routing"
	"berth/sticky"
)

// creations are the ways in which an upstream can hand out the task "t-1".
var creations = []struct {
	name, method, contentType, body string
}{
	{"extension, JSON", "modern", jsonType, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t-1","status":"working","ttlMs":60000}}`},
	{"core, JSON", "legacy", jsonType, `{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t-1","status":"working","ttl":60000}}}`},
	{"spread and reordered", "modern", jsonType + "; charset=utf-8", "\r\n{ \"result\" : {\"status\":\"working\",\n\"taskId\":\"\\u0074-1\", \"resultType\": \"task\" },\n \"id\":1,\"jsonrpc\":\"2.0\"}\r\n"},
	{"with empty content beside it", "modern", jsonType, `{"jsonrpc":"2.0","id":1,"result":{"content":[],"resultType":"task","taskId":"t-1","status":"working"}}`},
	{"first event", "modern", eventsType, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"task\",\"taskId\":\"t-1\",\"status\":\"working\"}}\n\n"},
	{"after a priming event, comments, progress and another task's status", "legacy", eventsType, "id: 1\ndata:\n\n: hello\n\n" +
		"event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":1,\"progressToken\":\"p\"}}\n\n" +
		"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tasks/status\",\"params\":{\"taskId\":\"other\",\"status\":\"working\"}}\n\n" +
		"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"task\":{\"taskId\":\"t-1\",\"status\":\"working\"}}}\n\n"},
	{"over several data lines, CRLF", "modern", eventsType, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\r\ndata: \"result\":{\"resultType\":\"task\",\r\ndata: \"taskId\":\"t-1\",\"status\":\"working\"}}\r\n\r\n"},
	{"last event without its empty line", "modern", eventsType, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"task\",\"taskId\":\"t-1\",\"status\":\"working\"}}\n"},
}

// call makes the tool call of the era that an answer belongs to.
func (f *rig) call(era string) *http.Request {
	f.t.Helper()
	if era == "modern" {
		return f.modernRequest(f.t.Context(), "tools/call", "work", `"name":"work"`)
	}
	return f.legacyRequest(f.t.Context(), "", "tools/call", `"name":"work","task":{}`)
}

// Whoever sees the handle can poll at once, through any berth: when its bytes
// begin to leave, the binding must stand already.
func TestTaskIsBoundBeforeItsHandleLeaves(t *testing.T) {
	for _, c := range creations {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var f *rig
				var released, early int
				watch := watchWrites(func(p []byte) {
					if bytes.Contains(p, []byte("-1")) {
						released++
						if f.owner("t-1") == "" {
							early++
						}
					}
				})
				f = newRig(t, rigOptions{wrap: watch})
				f.servers[0].inject(say(c.contentType, c.body))
				r := f.do(f.call(c.method))
				if r.status != http.StatusOK || strings.TrimRight(r.body, "\n") != strings.TrimRight(c.body, "\n") {
					t.Errorf("got %d %q, want the bytes as they came", r.status, r.body)
				}
				if released == 0 || early > 0 {
					t.Errorf("the handle left %d times, %d times before it was bound", released, early)
				}
				if got := f.owner("t-1"); got != "a" {
					t.Errorf("owner is %q, want a", got)
				}
				if got := f.owner("other"); got != "" {
					t.Errorf("a task that was only told of is bound to %q", got)
				}
			})
		})
	}
}

// A store that is slow holds the event back, and nothing else.
func TestEventWaitsForTheStore(t *testing.T) {
	redis := redistest.Start(t)
	line := newStoreLine(t, redis.Addr)
	store, err := storage.Open("redis://"+line.addr+"/0", storage.Options{Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var mu sync.Mutex
	var seen []byte
	f := newRig(t, rigOptions{tcp: true, size: 1, store: store, wrap: watchWrites(func(p []byte) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, p...)
	})})
	f.servers[0].inject(say(eventsType, ": before\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"task\",\"taskId\":\"t-1\"}}\n\n"))
	if err := store.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	asked := line.hold()
	done := make(chan reply)
	go func() { done <- f.do(f.call("modern")) }()
	<-asked
	mu.Lock()
	got := string(seen)
	mu.Unlock()
	if got != ": before\n\n" {
		t.Errorf("while the store thinks the client has %q, want what came before the event", got)
	}
	line.release()
	if r := <-done; !strings.Contains(r.body, "t-1") {
		t.Errorf("got %q afterwards", r.body)
	}
}

// The store's time is bounded: a frozen Redis costs a creation at most a second,
// and this berth answers for the task.
func TestFrozenStoreDoesNotHoldACreation(t *testing.T) {
	redis := redistest.Start(t)
	f := newRig(t, rigOptions{tcp: true, store: openStore(t, redis.URL())})
	f.newTask(0)
	redis.Stop()
	defer redis.Cont()
	id := f.newTask(0)
	if r := f.poll(id); r.message(t).Result == nil {
		t.Errorf("poll got %d %s", r.status, r.body)
	}
	if n := f.calls("tasks/get"); n != 1 {
		t.Errorf("%d polls at the instances, want the owner's one", n)
	}
}

func TestPollsGoToTheOwnerOnly(t *testing.T) {
	for _, sse := range []bool{false, true} {
		t.Run(fmt.Sprintf("sse=%v", sse), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{picker: new(routing.RoundRobin), server: func(s *mcptest.Server) { s.SSE = sse }})
				session := f.initialize()
				ids := []string{f.newTask(0), f.newTask(0), f.newTask(0)}
				for range 3 {
					for _, id := range ids {
						if r := f.poll(id); r.message(t).Result == nil {
							t.Errorf("poll got %d %s", r.status, r.body)
						}
					}
				}
				core := f.newCoreTask(session, 0)
				for _, method := range []string{"tasks/get", "tasks/result"} {
					if r := f.legacy(session, method, byID(core)); r.message(t).Result == nil {
						t.Errorf("%s got %d %s", method, r.status, r.body)
					}
				}
				for _, s := range f.servers {
					if n := s.Denied("tasks/get") + s.Denied("tasks/result"); n != 0 {
						t.Errorf("%s was asked %d times for what is not its own", s.Name, n)
					}
				}
			})
		})
	}
}

// Methods to come need no new code, as long as they name the task.
func TestUnknownTaskMethodGoesToTheOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{picker: new(routing.RoundRobin)})
		f.newTask(0)
		id := f.newTask(0)
		r := f.modern("tasks/rewind", id, byID(id))
		if m := r.message(t); r.status != http.StatusNotFound || m.Error == nil || m.Error.Code != -32601 {
			t.Errorf("got %d %s, want the owner's own refusal", r.status, r.body)
		}
		if got := f.servers[1].Calls("tasks/rewind"); got != 1 || f.calls("tasks/rewind") != 1 {
			t.Errorf("%d calls at the owner, %d in all, want 1", got, f.calls("tasks/rewind"))
		}
	})
}

// tasks/result blocks until the task ends (2025-11-25, tasks, "Result Retrieval").
func TestResultMayTakeAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{server: func(s *mcptest.Server) { s.TTL = 2 * time.Hour }})
		session := f.initialize()
		r := f.legacy(session, "tools/call", slowCompute(3600)+`,"task":{"ttl":7200000}`)
		started := time.Now()
		r = f.legacy(session, "tasks/result", byID(r.message(t).Result.Task.TaskID))
		if m := r.message(t); m.Result == nil || m.Result.StructuredContent.Instance != "a" {
			t.Errorf("got %d %s", r.status, r.body)
		}
		if took := time.Since(started); took != time.Hour {
			t.Errorf("took %v of fake time, want 1h", took)
		}
	})
}

// In a task that the server asked of the client (2025-11-25) the client makes the
// id. It comes in a POSTed response, and says nothing about upstreams.
func TestClientsOwnTaskIsNotBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		session := f.initialize()
		body := `{"jsonrpc":"2.0","id":7,"result":{"task":{"taskId":"mine","status":"working"}}}`
		if r := f.do(f.request(t.Context(), http.MethodPost, body, legacyHeader(session)...)); r.status != http.StatusAccepted {
			t.Errorf("got %d %q", r.status, r.body)
		}
		// An upstream that plays the message back does not make it a creation.
		f.servers[0].inject(say(eventsType, "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"sampling/createMessage\",\"params\":{\"taskId\":\"mine\",\"task\":{\"taskId\":\"mine\"}}}\n\n"))
		f.legacy(session, "tools/call", `"name":"who"`)
		if got := f.owner("mine"); got != "" {
			t.Errorf("bound to %q", got)
		}
	})
}

// A client that hangs up once its answer was read does not undo the record: the
// task exists. Here it leaves while the store is writing.
func TestHangUpDoesNotUndoTheRecord(t *testing.T) {
	for _, era := range []string{"modern", "legacy"} {
		t.Run(era, func(t *testing.T) {
			redis := redistest.Start(t)
			line := newStoreLine(t, redis.Addr)
			store, err := storage.Open("redis://"+line.addr+"/0", storage.Options{Timeout: 20 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			// Nothing is written back, so that only the record itself counts.
			f := newRig(t, rigOptions{tcp: true, size: 1, store: store, still: true})
			f.servers[0].inject(say(jsonType, creations[map[string]int{"modern": 0, "legacy": 1}[era]].body))
			if err := store.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			asked := line.hold()
			ctx, hangUp := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				if resp, err := f.client.Do(f.call(era).WithContext(ctx)); err == nil {
					resp.Body.Close()
				}
			}()
			<-asked
			hangUp()
			<-done
			line.release()
			other := sticky.New(openStore(t, redis.URL()), sticky.Options{})
			f.eventually("the binding, at another berth", func() bool {
				return ownerOf(other, f.router.TaskKey("", "t-1")) == "a"
			})
		})
	}
}
