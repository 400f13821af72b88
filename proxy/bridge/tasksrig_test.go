package bridge_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/h1/h1test"
	"berth/internal/mcp"
	"berth/internal/memnet"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/proxy/bridge"
	"berth/proxy/inbound"
	"berth/routing"
	"berth/routing/profile"
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
	expired   bool // nobody's credentials are taken any more
	sessions  int
	ended     int             // sessions
	denied    map[string]bool // those, which are known no more
	forgets   bool            // no task is known any more
	calls     []string
	keeps     bool            // it has no tasks/cancel
	wordless  bool            // it says nothing for people of the task
	timeless  bool            // it does not say when the task was created, or changed
	asksAnew  bool            // each tasks/result the same, until it has an answer to what one that stands was told
	asked     int             // so often
	standing  map[string]bool // ids of questions that were told to requests which stand

	support map[string]string // what tools say of tasks
	strict  bool              // calls that are not of the form their tool wants are refused
	streams bool              // calls are answered in event streams
	after   map[string]string // what they say once they were listed; nil: the same
	listed  int               // how often the tools were
	hangs   bool              // they are not
	tried   int               // calls that came
	fails   map[string]int    // with which status methods are answered
	makes   time.Duration     // for which it makes a task
	heads   bool              // meanwhile its answer has begun
	refuses bool              // it makes none
	given   []string          // ids of requests that were given up
}

const coreTask = `"taskId":"core-1","status":%q,"statusMessage":"so far","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:01Z","ttl":600000,"pollInterval":500`

func (s *coreServer) task(status string) string {
	text := fmt.Sprintf(coreTask, status)
	if s.wordless {
		text = strings.Replace(text, `"statusMessage":"so far",`, "", 1)
	}
	if s.timeless {
		text = strings.NewReplacer("createdAt", "c", "lastUpdatedAt", "u").Replace(text)
	}
	return text
}

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
		s.denied[r.Header.Get("Mcp-Session-Id")] = true
	case s.denied[r.Header.Get("Mcp-Session-Id")]:
		w.WriteHeader(http.StatusNotFound)
	case s.expired:
		w.WriteHeader(http.StatusUnauthorized)
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case m.Method == "":
		s.answers = append(s.answers, string(body))
		if s.standing[string(m.ID)] {
			s.status, s.asksAnew = "working", false
		}
		w.WriteHeader(http.StatusAccepted)
	case s.fails[m.Method] != 0:
		w.WriteHeader(s.fails[m.Method])
	case m.Method == "notifications/cancelled":
		s.given = append(s.given, string(m.Params.RequestID))
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
		cancel := map[bool]string{false: `"cancel":{},`}[s.keeps]
		reply(`"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"core","version":"1"},"capabilities":{"tools":{},"tasks":{` + cancel + `"requests":{"tools":{"call":{}}}}}}`)
	case r.Header.Get("Mcp-Session-Id") == "":
		w.WriteHeader(http.StatusBadRequest)
		reply(`"error":{"code":-32000,"message":"no session"}`)
	case m.Method == "tools/list" && s.hangs:
		s.listed++
		s.mu.Unlock()
		<-r.Context().Done()
		s.mu.Lock()
	case m.Method == "tools/list":
		s.listed++
		reply(s.list())
		maps.Copy(s.support, s.after)
	case m.Method == "tools/call":
		s.tried++
		if says := s.support[m.Params.Name]; s.strict && (m.Params.Task == nil && says == "required" || m.Params.Task != nil && says == "") {
			if s.streams {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32601,\"message\":\"no\"}}\n\n", m.ID)
				return
			}
			reply(`"error":{"code":-32601,"message":"no"}`)
			return
		}
		s.calls = append(s.calls, m.Params.Name+string(m.Params.Task))
		if m.Params.Task == nil {
			reply(`"result":{"content":[],"task":{` + s.task("working") + `}}`)
			return
		}
		answer := `"result":{"task":{` + s.task("working") + `}}`
		if s.refuses {
			answer = `"error":{"code":-32603,"message":"no"}`
		}
		s.make(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answer))
	case m.Params.TaskID != "core-1", s.forgets:
		reply(`"error":{"code":-32602,"message":"Failed to retrieve task: Task not found"}`)
	case m.Method == "tasks/get":
		reply(`"result":{` + s.task(s.status) + `}`)
	case m.Method == "tasks/cancel":
		s.status = "cancelled"
		reply(`"result":{` + s.task(s.status) + `}`)
	case m.Method == "tasks/result" && s.outcome != "":
		reply(s.outcome)
	case m.Method == "tasks/result":
		s.stream(w, r, string(m.ID))
	}
}

// make answers with a task, once that is made.
func (s *coreServer) make(w http.ResponseWriter, response string) {
	w.Header().Set("Content-Type", "application/json")
	if s.streams {
		w.Header().Set("Content-Type", "text/event-stream")
		response = "data: " + response + "\n\n"
	}
	if s.heads {
		w.(http.Flusher).Flush()
	}
	if s.makes > 0 {
		s.mu.Unlock()
		time.Sleep(s.makes)
		s.mu.Lock()
	}
	_, _ = io.WriteString(w, response)
}

// list is what tools/list answers with.
func (s *coreServer) list() string {
	var tools []string
	for name, says := range s.support {
		execution := ""
		if says != "" {
			execution = fmt.Sprintf(`,"execution":{"taskSupport":%q}`, says)
		}
		tools = append(tools, fmt.Sprintf(`{"name":%q%s}`, name, execution))
	}
	return `"result":{"tools":[` + strings.Join(tools, ",") + `]}`
}

// says has a tool say that of tasks.
func (s *coreServer) says(tool, support string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.support[tool] = support
}

// stream tells what is asked, and blocks until the request is cancelled.
func (s *coreServer) stream(w http.ResponseWriter, r *http.Request, id string) {
	w.Header().Set("Content-Type", "text/event-stream")
	if s.asksAnew {
		s.asked++
		asked := fmt.Sprint(100 + s.asked)
		s.queue = append(s.queue, fmt.Sprintf(taskQuestion, 100+s.asked, "elicitation/create"))
		s.standing[asked] = true
		defer delete(s.standing, asked)
	}
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

// failsAt has a method be answered with a status alone, 0: as it should.
func (s *coreServer) failsAt(method string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = map[string]int{method: status}
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
	client exchange.Sender
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
		server := &coreServer{status: "working", support: map[string]string{"must": "required", "may": "optional", "never": ""}, listening: map[string]chan struct{}{}, standing: map[string]bool{}, denied: map[string]bool{}}
		listener := memnet.Listen("a")
		front := &http.Server{Handler: server, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
		go front.Serve(listener)
		defer front.Close()
		r := &taskRig{coreServer: server, t: t, client: h1test.NewSender(memnet.Dialer(listener), time.Second)}
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
	at := &routing.Upstream{Name: "a", URL: &url.URL{Scheme: "http", Host: "a:80", Path: "/mcp"}, Era: profile.SpokenLegacy}
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
	response, err := b.To(b.at).Send(r.t.Context(), r.request(caller, capabilities, method, params), 0)
	if err != nil {
		r.t.Fatalf("%s: %v", method, err)
	}
	return response
}

func (r *taskRig) request(caller, capabilities, method, params string) *exchange.Request {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}}}`,
		method, params, capabilities)
	h := wire.NewHeader("Content-Type", "application/json", "Accept", "application/json, text/event-stream", mcp.HeaderVersion, "2026-07-28", mcp.HeaderMethod, method)
	var named struct{ Params struct{ Name, TaskID string } }
	_ = json.Unmarshal([]byte(body), &named)
	if name := named.Params.Name + named.Params.TaskID; name != "" {
		h.Set(mcp.HeaderName, name)
	}
	return &exchange.Request{Method: wire.MethodPost, URL: r.berths[0].at.URL, Header: h, Body: []byte(body), Caller: caller}
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
