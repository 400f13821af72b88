package bridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/memnet"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/proxy/bridge"
	"berth/proxy/inbound"
	"berth/routing"
)

// coreServer is a server of 2025-11-25 whose tools may become tasks. Each question is told once, as
// the TypeScript SDK v1 does it.
type coreServer struct {
	mu        sync.Mutex // guards the fields below
	status    string     // of the one task
	outcome   string     // a member of the response to tasks/result
	queue     []string   // questions that were not told yet
	answers   []string   // to questions
	listening map[string]chan struct{}
	sessions  int
	ended     int // sessions
	calls     []string
}

const coreTask = `"taskId":"core-1","status":%q,"statusMessage":"so far","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:01Z","ttl":600000,"pollInterval":500`

func (s *coreServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			TaskID    string
			RequestID json.RawMessage
			Name      string
			Task      json.RawMessage
		}
	}
	_ = json.Unmarshal(body, &m)
	s.mu.Lock()
	defer s.mu.Unlock()
	reply := func(member string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, member)
	}
	switch {
	case r.Method == http.MethodDelete:
		s.ended++
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case m.Method == "":
		s.answers = append(s.answers, string(body))
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "notifications/cancelled":
		if over := s.listening[string(m.Params.RequestID)]; over != nil {
			close(over)
			delete(s.listening, string(m.Params.RequestID))
		}
		w.WriteHeader(http.StatusAccepted)
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "initialize":
		s.sessions++
		w.Header().Set("Mcp-Session-Id", fmt.Sprintf("00000000-0000-0000-0000-%012d", s.sessions))
		reply(`"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"core","version":"1"},"capabilities":{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}}`)
	case r.Header.Get("Mcp-Session-Id") == "":
		w.WriteHeader(http.StatusBadRequest)
		reply(`"error":{"code":-32000,"message":"no session"}`)
	case m.Method == "tools/list":
		reply(`"result":{"tools":[{"name":"must","execution":{"taskSupport":"required"}},{"name":"may","execution":{"taskSupport":"optional"}},{"name":"never"}]}`)
	case m.Method == "tools/call":
		s.calls = append(s.calls, m.Params.Name+string(m.Params.Task))
		if m.Params.Task == nil {
			reply(`"result":{"content":[]}`)
			return
		}
		reply(`"result":{"task":{` + fmt.Sprintf(coreTask, "working") + `}}`)
	case m.Params.TaskID != "core-1":
		reply(`"error":{"code":-32602,"message":"Failed to retrieve task: Task not found"}`)
	case m.Method == "tasks/get":
		reply(`"result":{` + fmt.Sprintf(coreTask, s.status) + `}`)
	case m.Method == "tasks/cancel":
		s.status = "cancelled"
		reply(`"result":{` + fmt.Sprintf(coreTask, s.status) + `}`)
	case m.Method == "tasks/result" && s.outcome != "":
		reply(s.outcome)
	case m.Method == "tasks/result":
		s.stream(w, r, string(m.ID))
	}
}

// stream tells what is asked, and blocks until the request is cancelled.
func (s *coreServer) stream(w http.ResponseWriter, r *http.Request, id string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, q := range s.queue {
		fmt.Fprintf(w, "data: %s\n\n", q)
	}
	s.queue = nil
	w.(http.Flusher).Flush()
	over := make(chan struct{})
	s.listening[id] = over
	s.mu.Unlock()
	select {
	case <-over:
	case <-r.Context().Done():
	}
	s.mu.Lock()
}

func (s *coreServer) becomes(status, outcome string, asks ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.outcome, s.queue = status, outcome, append(s.queue, asks...)
}

// taskRig is berths before a coreServer.
type taskRig struct {
	*coreServer
	t      *testing.T
	client *exchange.Client
	store  *storage.Store
	berths []inFront
	turn   int
}

// inFront is a berth's bridge, and the upstream as it has that.
type inFront struct {
	*bridge.Bridge
	at *routing.Upstream
}

// withTasks runs a test before a fresh server, with two berths that get requests in turn.
func withTasks(t *testing.T, change func(*bridge.Options), test func(r *taskRig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := &coreServer{status: "working", listening: map[string]chan struct{}{}}
		listener := memnet.Listen("a")
		front := &http.Server{Handler: server, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
		go front.Serve(listener)
		defer front.Close()
		r := &taskRig{coreServer: server, t: t, client: exchange.NewClientOver(memnet.Dialer(listener), time.Second)}
		defer r.client.Close()
		store, err := storage.Open("memory:", storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		r.store = store
		for range 2 {
			r.berths = append(r.berths, r.newBerth(change))
		}
		test(r)
	})
}

func (r *taskRig) newBerth(change func(*bridge.Options)) inFront {
	at := &routing.Upstream{Name: "a", URL: &url.URL{Scheme: "http", Host: "a:80", Path: "/mcp"}, Era: routing.SpokenLegacy}
	pool := routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: []*routing.Upstream{at}})
	keys, err := seal.NewKeyring(bytes.Repeat([]byte("k"), seal.MinSecret))
	if err != nil {
		r.t.Fatal(err)
	}
	o := bridge.Options{Endpoint: &inbound.Endpoint{Path: "/mcp", Router: &routing.Router{Pool: pool}, Client: r.client}, Keys: keys, Store: r.store}
	if change != nil {
		change(&o)
	}
	b := bridge.New(o)
	o.Endpoint.Bridge = b
	return inFront{b, at}
}

// said is an answer.
type said struct {
	status int
	text   string

	Result struct {
		ResultType    string
		TaskID        string
		Status        string
		TTLMs         *int
		InputRequests map[string]json.RawMessage
		Result        json.RawMessage
		Error         json.RawMessage
		Capabilities  map[string]json.RawMessage
	}
	Error struct{ Code int }
}

const (
	knowsTasks = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	knowsNone  = `{"elicitation":{}}`
)

// ask sends a request to the next berth, in a caller's name.
func (r *taskRig) ask(caller, capabilities, method, params string) (got said) {
	r.t.Helper()
	r.turn++
	b := r.berths[r.turn%len(r.berths)]
	response := r.send(b, caller, capabilities, method, params)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	got.status, got.text = response.Status, string(body)
	if err := json.Unmarshal(body, &got); err != nil {
		r.t.Fatalf("%s: %s: %v", method, body, err)
	}
	return got
}

func (r *taskRig) send(b inFront, caller, capabilities, method, params string) *wire.Response {
	r.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}}}`,
		method, params, capabilities)
	h := wire.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, mcp.HeaderVersion: {"2026-07-28"}, mcp.HeaderMethod: {method}}
	var named struct{ Params struct{ Name, TaskID string } }
	_ = json.Unmarshal([]byte(body), &named)
	if name := named.Params.Name + named.Params.TaskID; name != "" {
		h.Set(mcp.HeaderName, name)
	}
	response, err := b.To(b.at).Send(r.t.Context(), &exchange.Request{Method: wire.MethodPost, URL: b.at.URL, Header: h, Body: []byte(body), Caller: caller}, 0)
	if err != nil {
		r.t.Fatalf("%s: %v", method, err)
	}
	return response
}

// make has the server make a task, whose id it returns.
func (r *taskRig) make() string {
	r.t.Helper()
	got := r.ask("alice", knowsTasks, "tools/call", `"name":"must",`)
	if got.Result.ResultType != "task" || got.Result.TaskID == "" || got.Result.TaskID == "core-1" || got.Result.TTLMs == nil || *got.Result.TTLMs != 600000 {
		r.t.Fatalf("tools/call: got %d %s, want a task", got.status, got.text)
	}
	return got.Result.TaskID
}

func (r *taskRig) about(method, id string) said {
	r.t.Helper()
	return r.ask("alice", knowsTasks, method, fmt.Sprintf(`"taskId":%q,`, id))
}

func (r *taskRig) wantStatus(id, status string) said {
	r.t.Helper()
	got := r.about("tasks/get", id)
	if got.Result.ResultType != "complete" || got.Result.TaskID != id || got.Result.Status != status {
		r.t.Fatalf("tasks/get: got %d %s, want %s", got.status, got.text, status)
	}
	return got
}

func TestServerThatHasCoreTasksTellsOfTheExtension(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		got := r.ask("alice", knowsTasks, "server/discover", "")
		if string(got.Result.Capabilities["extensions"]) != `{"io.modelcontextprotocol/tasks":{}}` || got.Result.Capabilities["tasks"] != nil {
			t.Errorf("got %s", got.text)
		}
	})
}

// Which calls become tasks, the tool and the client have a say in.
func TestCallsThatBecomeTasks(t *testing.T) {
	for _, tt := range []struct {
		tool, capabilities string
		called             string // as the server saw it; "": it did not
		code               int
	}{
		{"must", knowsTasks, "must{}", 0},
		{"may", knowsTasks, "may{}", 0},
		{"never", knowsTasks, "never", 0},
		{"must", knowsNone, "", mcp.CodeMissingCapability},
		{"may", knowsNone, "may", 0},
		{"unlisted", knowsTasks, "unlisted", 0},
	} {
		t.Run(tt.tool+" "+tt.capabilities, func(t *testing.T) {
			withTasks(t, nil, func(r *taskRig) {
				got := r.ask("alice", tt.capabilities, "tools/call", fmt.Sprintf(`"name":%q,`, tt.tool))
				var want []string
				if tt.called != "" {
					want = []string{tt.called}
				}
				if got.Error.Code != tt.code || !slices.Equal(r.calls, want) {
					t.Errorf("got %d %s, and the server was called %q, want code %d and %q", got.status, got.text, r.calls, tt.code, want)
				}
			})
		})
	}
}

// What a task has come to is in one answer. A result is one, be it that of a failure; an error is a
// failure of the call ("Task Execution Errors").
func TestEndOfTaskIsToldInOneAnswer(t *testing.T) {
	for _, tt := range []struct{ name, status, outcome, want, holds string }{
		{"completed", "completed", `"result":{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"core-1"}}}`, "completed", `"result":{"resultType":"complete","content":[],"_meta":{}}`},
		{"the tool failed", "failed", `"result":{"content":[],"isError":true}`, "completed", `"result":{"resultType":"complete","content":[],"isError":true}`},
		{"the call failed", "failed", `"error":{"code":-32603,"message":"no"}`, "failed", `"error":{"code":-32603,"message":"no"}`},
		{"cancelled", "cancelled", ``, "cancelled", `"statusMessage":"so far"`},
		{"at work", "working", ``, "working", `"ttlMs":600000,"pollIntervalMs":500`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withTasks(t, nil, func(r *taskRig) {
				id := r.make()
				r.becomes(tt.status, tt.outcome)
				if got := r.wantStatus(id, tt.want); !strings.Contains(got.text, tt.holds) || strings.Contains(got.text, "core-1") {
					t.Errorf("got %s, want it to hold %s, and no id of the server's", got.text, tt.holds)
				}
			})
		})
	}
}

const taskQuestion = `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"message":"which?","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"core-1"}}}}`

// The server tells each question once. It is shown by any berth until it is answered, and never again.
func TestQuestionsOfTask(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		r.becomes("input_required", "", fmt.Sprintf(taskQuestion, 4, "elicitation/create"), fmt.Sprintf(taskQuestion, 5, "elicitation/create"))
		for range 3 {
			got := r.wantStatus(id, "input_required")
			if want := `{"method":"elicitation/create","params":{"message":"which?"}}`; len(got.Result.InputRequests) != 2 || string(got.Result.InputRequests["ask-4"]) != want {
				t.Fatalf("got %s, want two questions", got.text)
			}
		}
		answer := func(key string) said {
			return r.ask("alice", knowsTasks, "tasks/update", fmt.Sprintf(`"taskId":%q,"inputResponses":{%q:{"action":"decline"}},`, id, key))
		}
		if got := answer("ask-5"); got.Result.ResultType != "complete" || got.Result.TaskID != "" {
			t.Errorf("tasks/update: got %s, want an acknowledgement", got.text)
		}
		if got := r.wantStatus(id, "input_required"); len(got.Result.InputRequests) != 1 || got.Result.InputRequests["ask-4"] == nil {
			t.Errorf("got %s, want the question that is open", got.text)
		}
		answer("ask-5")
		answer("ask-4")
		r.wantStatus(id, "working") // the server has not taken the answers in yet
		want := []string{
			`{"jsonrpc":"2.0","id":5,"result":{"action":"decline","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"core-1"}}}}`,
			`{"jsonrpc":"2.0","id":4,"result":{"action":"decline","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"core-1"}}}}`,
		}
		if !slices.Equal(r.answers, want) {
			t.Errorf("the server was told %q, want %q", r.answers, want)
		}
		if len(r.listening) > 0 {
			t.Errorf("%d requests of berth's listen still, and would take the next question away", len(r.listening))
		}
	})
}

func TestQuestionThatItsClientHasNotDeclaredIsRefused(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		r.becomes("input_required", "", fmt.Sprintf(taskQuestion, 4, "sampling/createMessage"))
		r.wantStatus(id, "working")
		if len(r.answers) != 1 || !strings.Contains(r.answers[0], `"code":-32601`) {
			t.Errorf("the server was told %q, want a refusal", r.answers)
		}
	})
}

func TestWhoMayNotKnowOfTask(t *testing.T) {
	for _, tt := range []struct {
		name, caller, capabilities string
		status, code               int
	}{
		{"another caller", "bob", knowsTasks, 200, mcp.CodeInvalidParams},
		{"without the extension", "alice", knowsNone, 400, mcp.CodeMissingCapability},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withTasks(t, nil, func(r *taskRig) {
				id := r.make()
				for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
					got := r.ask(tt.caller, tt.capabilities, method, fmt.Sprintf(`"taskId":%q,"inputResponses":{},`, id))
					if got.status != tt.status || got.Error.Code != tt.code {
						t.Errorf("%s: got %d %s, want %d with %d", method, got.status, got.text, tt.status, tt.code)
					}
				}
				r.wantStatus(id, "working")
			})
		})
	}
}

func TestTaskIsCancelled(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		for range 2 {
			if got := r.about("tasks/cancel", id); got.Result.ResultType != "complete" || got.Result.TaskID != "" {
				t.Errorf("tasks/cancel: got %s, want an acknowledgement", got.text)
			}
		}
		r.wantStatus(id, "cancelled")
	})
}

// An id that would be too long stands for one in the store.
func TestIDsOfTasksAreBounded(t *testing.T) {
	withTasks(t, func(o *bridge.Options) { o.TaskID = 39 }, func(r *taskRig) {
		id := r.make()
		if len(id) > 39 {
			t.Errorf("got an id of %d bytes", len(id))
		}
		r.wantStatus(id, "working")
		if got := r.ask("bob", knowsTasks, "tasks/get", fmt.Sprintf(`"taskId":%q,`, id)); got.Error.Code != mcp.CodeInvalidParams {
			t.Errorf("another caller: got %s", got.text)
		}
		if got := r.about("tasks/get", "task.nobody-made-this"); got.Error.Code != mcp.CodeInvalidParams {
			t.Errorf("unknown: got %s", got.text)
		}
	})
}

// A session stays open while a task of it lives, and not for longer than that does.
func TestSessionIsKeptForItsTask(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after func(r *taskRig, id string)
		ended int
	}{
		{"the task lives", func(r *taskRig, id string) { time.Sleep(5 * time.Minute) }, 0},
		{"the task has ended", func(r *taskRig, id string) {
			r.becomes("cancelled", "")
			r.wantStatus(id, "cancelled")
			time.Sleep(5 * time.Minute)
		}, 1},
		{"the task has expired", func(r *taskRig, id string) { time.Sleep(15 * time.Minute) }, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withTasks(t, func(o *bridge.Options) { o.Idle = time.Minute }, func(r *taskRig) {
				r.berths = r.berths[:1]
				ctx, stop := context.WithCancel(r.t.Context())
				done := make(chan error, 1)
				go func() { done <- r.berths[0].Run(ctx) }()
				defer func() { stop(); <-done }()
				id := r.make()
				tt.after(r, id)
				r.mu.Lock()
				ended := r.ended
				r.mu.Unlock()
				if ended != tt.ended {
					t.Errorf("%d sessions were ended, want %d", ended, tt.ended)
				}
			})
		})
	}
}

// A subscription is told of what its task comes to, and of what it asks.
func TestSubscriptionToTask(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		if got := r.ask("alice", knowsNone, "subscriptions/listen", fmt.Sprintf(`"notifications":{"taskIds":[%q]},`, id)); got.status != 400 || got.Error.Code != mcp.CodeMissingCapability {
			t.Errorf("without the extension: got %d %s", got.status, got.text)
		}
		stream := r.send(r.berths[0], "alice", knowsTasks, "subscriptions/listen", fmt.Sprintf(`"notifications":{"taskIds":[%q,"nobodys"]},`, id))
		defer stream.Body.Close()
		events := mcp.NewEventReader(stream.Body)
		next := func() string {
			t.Helper()
			event, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			return string(event.Data)
		}
		if got := next(); !strings.Contains(got, fmt.Sprintf(`"taskIds":[%q]`, id)) {
			t.Errorf("acknowledged: got %s", got)
		}
		wants := func(words ...string) {
			t.Helper()
			got := next()
			for _, word := range append(words, `"method":"notifications/tasks"`, id, `"io.modelcontextprotocol/subscriptionId":7`) {
				if !strings.Contains(got, word) {
					t.Errorf("got %s, want %s in it", got, word)
				}
			}
		}
		wants(`"status":"working"`)
		r.becomes("input_required", "", fmt.Sprintf(taskQuestion, 4, "elicitation/create"))
		wants(`"status":"input_required"`, `"ask-4"`)
		r.becomes("completed", `"result":{"content":[]}`)
		wants(`"status":"completed"`, `"content":[]`)
	})
}

// A task whose id cannot be stored is nobody's: the server gives it up.
func TestTaskThatCannotBeHandedOutIsGivenUp(t *testing.T) {
	withTasks(t, func(o *bridge.Options) { o.TaskID = 39 }, func(r *taskRig) {
		if err := r.store.Close(); err != nil {
			t.Fatal(err)
		}
		if got := r.ask("alice", knowsTasks, "tools/call", `"name":"must",`); got.status != 503 || got.Error.Code != mcp.CodeUnavailable {
			t.Errorf("got %d %s, want -31503", got.status, got.text)
		}
		synctest.Wait()
		r.mu.Lock()
		status := r.coreServer.status
		r.mu.Unlock()
		if status != "cancelled" {
			t.Errorf("the server's task is %s, want cancelled", status)
		}
	})
}

// While berth cannot note what a server tells once, it does not have it told.
func TestQuestionsAreNotTakenWhileTheStoreIsAway(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		r.becomes("input_required", "", fmt.Sprintf(taskQuestion, 4, "elicitation/create"))
		if err := r.store.Close(); err != nil {
			t.Fatal(err)
		}
		if got := r.about("tasks/get", id); got.status != 503 || got.Error.Code != mcp.CodeUnavailable {
			t.Errorf("got %d %s, want -31503", got.status, got.text)
		}
		if len(r.queue) != 1 {
			t.Errorf("%d questions wait at the server, want 1", len(r.queue))
		}
	})
}
