package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// kind is what an upstream is like. The zero value gives the events of its streams ids.
type kind struct {
	plain bool   // events have no ids
	mark  string // what begins the bodies in JSON
	bare  bool   // no event comes before the first message
	whole bool   // calls are answered in JSON, with headers only then
	late  bool   // streams of calls begin a moment after what is asked
	does  string // capabilities, as JSON; "": tools, prompts, resources, logging
	lists string // what tools/list answers with, as JSON
	asks  string // a method, that each new session's client is asked once it has initialized; "": nothing
}

// upstream is a server of 2025-11-25 by Streamable HTTP, as SDKs write them.
type upstream struct {
	kind

	tools  map[string]func(k *running) // by name; prompts and resources as well
	faults func(w http.ResponseWriter, r *http.Request, m message) bool

	life context.Context // of what runs

	mu       sync.Mutex // guards the fields below, and what hangs on them
	count    int
	sessions map[string]*served
	requests []request
	wakes    chan struct{} // closed at each change
}

// request is what the upstream was sent.
type request struct {
	method  string // of JSON-RPC, "answer" for a response, else of HTTP
	session string
	host    string
	header  http.Header
	body    string
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name         string          `json:"name"`
		URI          string          `json:"uri"`
		TaskID       string          `json:"taskId"`
		Level        string          `json:"level"`
		RequestID    json.RawMessage `json:"requestId"`
		Capabilities json.RawMessage `json:"capabilities"`
		Meta         struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// served is a session.
type served struct {
	id       string
	declared string // of its client, as JSON
	level    string
	asked    int // questions so far
	streams  map[string]*line
	own      *line
	running  map[string]*running
	answers  map[string]chan message
	watched  map[string]int // resources
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m message
	_ = json.Unmarshal(body, &m)
	name := m.Method
	switch {
	case r.Method != http.MethodPost:
		name = r.Method
	case name == "":
		name = "answer"
	}
	u.mu.Lock()
	u.requests = append(u.requests, request{name, r.Header.Get("Mcp-Session-Id"), r.Host, r.Header.Clone(), string(body)})
	u.mu.Unlock()
	if u.faults != nil && u.faults(w, r, m) {
		return
	}
	switch {
	case m.Method == "server/discover":
		respond(w, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}`)
		return
	case m.Method == "initialize":
		u.initialize(w, m)
		return
	}
	s := u.session(r)
	switch {
	case s == nil:
		respond(w, 404, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)
	case r.Method == http.MethodDelete:
		u.end(s)
	case r.Method == http.MethodGet:
		u.get(w, r, s)
	case m.ID == nil || m.Method == "":
		u.hear(s, m)
		w.WriteHeader(202)
	default:
		u.answer(w, r, s, m)
	}
}

// silentTo is a fault: requests of that method get no answer.
func silentTo(method string) func(http.ResponseWriter, *http.Request, message) bool {
	return func(_ http.ResponseWriter, r *http.Request, m message) bool {
		if m.Method == method {
			<-r.Context().Done()
		}
		return m.Method == method
	}
}

func respond(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func (u *upstream) initialize(w http.ResponseWriter, m message) {
	u.mu.Lock()
	u.count++
	s := &served{
		id: "s" + strconv.Itoa(u.count), declared: string(m.Params.Capabilities), own: &line{name: "own"},
		streams: map[string]*line{}, running: map[string]*running{}, answers: map[string]chan message{}, watched: map[string]int{},
	}
	s.streams["own"] = s.own
	u.sessions[s.id] = s
	u.mu.Unlock()
	w.Header().Set("Mcp-Session-Id", s.id)
	respond(w, 200, u.mark+fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":%s,"serverInfo":{"name":"old","version":"1"}}}`, m.ID, u.capabilities()))
}

func (u *upstream) capabilities() string {
	if u.does != "" {
		return u.does
	}
	return `{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true},"logging":{},"tasks":{}}`
}

func (u *upstream) session(r *http.Request) *served {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.sessions[r.Header.Get("Mcp-Session-Id")]
}

func (u *upstream) end(s *served) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.sessions, s.id)
	for _, k := range s.running {
		k.stop()
	}
	s.own.over = true
	u.wake()
}

// forget has the upstream know no session any more, as after its restart.
func (u *upstream) forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, s := range u.sessions {
		s.own.over = true
		for _, k := range s.running {
			k.stop()
		}
	}
	clear(u.sessions)
	u.wake()
}

// hear takes a notification or an answer.
func (u *upstream) hear(s *served, m message) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case m.Method == "notifications/initialized" && u.kind.asks != "":
		s.own.events = append(s.own.events, fmt.Sprintf(`{"jsonrpc":"2.0","id":"first","method":%q}`, u.kind.asks))
		u.wake()
	case m.Method == "notifications/cancelled":
		if k := s.running[string(m.Params.RequestID)]; k != nil {
			k.stop()
		}
	case m.Method == "":
		if waits := s.answers[string(m.ID)]; waits != nil {
			delete(s.answers, string(m.ID)) // a second answer is ignored
			waits <- m
		}
	}
}

// answer answers a request in a session.
func (u *upstream) answer(w http.ResponseWriter, r *http.Request, s *served, m message) {
	result := ""
	u.mu.Lock()
	switch m.Method {
	case "tools/call", "prompts/get", "resources/read":
	case "tools/list":
		if result = u.lists; result == "" {
			result = `{"tools":[]}`
		}
	case "logging/setLevel":
		s.level, result = m.Params.Level, "{}"
	case "resources/subscribe":
		s.watched[m.Params.URI]++
		result = "{}"
	case "resources/unsubscribe":
		s.watched[m.Params.URI]--
		result = "{}"
	case "prompts/list", "resources/list", "resources/templates/list", "completion/complete", "ping":
		result = `{"of":"` + m.Method + `"}`
	}
	u.mu.Unlock()
	tool := u.tools[m.Params.Name+m.Params.URI]
	switch {
	case result != "":
		respond(w, 200, u.mark+fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result))
	case tool == nil:
		respond(w, 200, u.mark+fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID))
	default:
		u.run(w, r, s, m, tool)
	}
}

// wake wakes who waits for a change. The caller holds u.mu.
func (u *upstream) wake() {
	close(u.wakes)
	u.wakes = make(chan struct{})
}

// sent returns what came of a method.
func (u *upstream) sent(method string) (of []request) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, r := range u.requests {
		if r.method == method {
			of = append(of, r)
		}
	}
	return of
}

// open are the names of the sessions that stand.
func (u *upstream) open() (names []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for name := range u.sessions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// say sends a message down the own streams of these sessions; of all, if none is named.
func (u *upstream) say(text string, sessions ...string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for name, s := range u.sessions {
		if len(sessions) == 0 || slices.Contains(sessions, name) {
			s.own.events = append(s.own.events, text)
		}
	}
	u.wake()
}

// told are the answers and cancellations that came, without blanks.
func (u *upstream) told() (all []string) {
	for _, r := range slices.Concat(u.sent("answer"), u.sent("notifications/cancelled")) {
		all = append(all, strings.ReplaceAll(r.body, " ", ""))
	}
	return all
}
