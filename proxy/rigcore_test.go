package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/upgrade"
)

// beside is another berth before the same instance, on its own way to the same store.
func (f *coreRig) beside(store *storage.Store) *upgraded {
	f.t.Helper()
	g := &upgraded{store: store, seen: f.seen}
	g.rig = f.second(g.makes(rigOptions{size: len(f.servers), store: store}, nil))
	g.background(g.tasks.Run)
	realtest.Eventually(f.t, "a store that serves", store.Healthy)
	return g
}

// legacyTool stands for the tools of an instance of 2025-11-25: each call has a stream, on
// which the test says what it likes.
type legacyTool struct {
	calls chan *legacyCall

	mu     sync.Mutex // guards the fields below
	posted []string   // responses and cancellations that it was sent
	by     []string   // their Authorization
}

// legacyCall is one call of the tool.
type legacyCall struct {
	id, token json.RawMessage
	header    http.Header
	says      chan string
}

// coreRig is an instance with such tools behind a berth that makes tasks of their calls.
type coreRig struct {
	*upgraded
	tool *legacyTool
}

func newCoreRig(t *testing.T, o rigOptions, change func(*upgrade.Rule)) *coreRig {
	t.Helper()
	f := &coreRig{newUpgraded(t, o, change), &legacyTool{calls: make(chan *legacyCall, 16)}}
	for _, s := range f.servers {
		s.inject(f.tool.serve)
	}
	return f
}

func (l *legacyTool) serve(w http.ResponseWriter, r *http.Request, body []byte) bool {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Meta struct{ ProgressToken json.RawMessage } `json:"_meta"`
		}
	}
	if r.Method != http.MethodPost || json.Unmarshal(body, &m) != nil {
		return false
	}
	switch m.Method {
	case "tools/call":
		c := &legacyCall{m.ID, m.Params.Meta.ProgressToken, r.Header.Clone(), make(chan string, 64)}
		l.calls <- c
		return streams(c.run)(w, r, body)
	case "", "notifications/cancelled":
		l.mu.Lock()
		defer l.mu.Unlock()
		l.posted, l.by = append(l.posted, string(body)), append(l.by, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusAccepted)
		return true
	}
	return false
}

func (l *legacyTool) answers() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.posted)
}

func (l *legacyTool) authorised() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.by)
}

func (c *legacyCall) run(ctx context.Context, write func(string)) {
	for {
		select {
		case message, ok := <-c.says:
			if !ok {
				return
			}
			write("data: " + message + "\n\n")
		case <-ctx.Done():
			return
		}
	}
}

func (c *legacyCall) say(messages ...string) {
	for _, m := range messages {
		c.says <- m
	}
}

// progress tells it under the token of the call.
func (c *legacyCall) progress(rest string) {
	c.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,%s}}`, c.token, rest))
}

// ask makes a request to the client.
func (c *legacyCall) ask(id string) { c.say(elicitation(id)) }

func elicitation(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":{"message":"?"}}`, id)
}

// ends gives the response, `"result":…` or `"error":…`, and the end of the stream.
func (c *legacyCall) ends(outcome string) {
	c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, c.id, outcome))
	close(c.says)
}

// work is the call of a client that gives "mine" for its progress.
const work = `"name":"work","arguments":{},"task":{},"_meta":{"progressToken":"mine"}`

// made makes a task in a session, "" for none, and returns its call. What no client can say
// of it, or no session, change does.
func (f *coreRig) made(session string, change ...func(*upgrade.Creation)) (string, *legacyCall) {
	f.t.Helper()
	if session != "" && len(change) == 0 {
		m := f.legacy(session, "tools/call", work).message(f.t)
		if m.Result == nil || m.Result.Task == nil {
			f.t.Fatalf("no task: %+v", m)
		}
		return m.Result.Task.TaskID, <-f.tool.calls
	}
	rule := everyTool(nil)
	c := upgrade.Creation{
		Rule: &rule, Tool: "work", Version: "2025-11-25", Asker: upgrade.Asker{Pool: "p"}, Prefer: f.servers[0].Name,
		Core: true, Session: session, Call: &upgrade.Call{
			Body: []byte(message("tools/call", work)),
			Own: upgrade.Pairs{
				"Accept", "application/json, text/event-stream", "Content-Type", jsonType, "Mcp-Protocol-Version", "2025-11-25",
			},
			Session: session,
		},
	}
	for _, change := range change {
		change(&c)
	}
	held, err := f.tasks.Maker.Create(f.t.Context(), c)
	if err != nil {
		f.t.Fatal(err)
	}
	held.Start(nil)
	held.Handed()
	return held.Task().ID, <-f.tool.calls
}

// replies answers what a server asks under this id, in its session.
func (f *coreRig) replies(session, id string) {
	f.t.Helper()
	r := f.do(f.request(f.t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`, legacyHeader(session)...))
	if r.status != http.StatusAccepted {
		f.t.Errorf("a response is answered %v", r)
	}
}

// coreView is what a client of 2025-11-25 reads of a task.
type coreView struct {
	TaskID, Status, StatusMessage string
	CreatedAt, LastUpdatedAt      string
	TTL, PollInterval             *int64
}

func (r reply) coreView(t *testing.T) (v coreView) {
	t.Helper()
	var m struct{ Result *coreView }
	if err := json.Unmarshal([]byte(r.body), &m); err != nil || r.status != 200 || m.Result == nil {
		t.Fatalf("no task: %v", r)
	}
	return *m.Result
}

// look polls a task once.
func (f *coreRig) look(session, id string) coreView {
	f.t.Helper()
	return f.legacy(session, "tasks/get", byID(id)).coreView(f.t)
}

// reaches polls a task until it has this status.
func (f *coreRig) reaches(session, id, status string) (v coreView) {
	f.t.Helper()
	f.eventually("task "+status, func() bool {
		v = f.look(session, id)
		return v.Status == status
	})
	return v
}

// waiter is a client that waits for the result of a task.
type waiter struct {
	leave  context.CancelFunc
	header http.Header
	over   chan struct{} // closed when the answer has ended

	mu       sync.Mutex // guards the fields below
	events   []string   // the messages
	raw      strings.Builder
	comments int
	err      error // nil: the answer ended whole
}

// awaits asks for the result of a task, with pairs of headers and params behind the id.
func (f *rig) awaits(session, id, params string, header ...string) *waiter {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	f.t.Cleanup(cancel)
	w := &waiter{leave: cancel, over: make(chan struct{})}
	r := f.request(ctx, http.MethodPost, message("tasks/result", byID(id)+params), append(legacyHeader(session), header...)...)
	go w.read(f, r)
	return w
}

func (w *waiter) read(f *rig, r *http.Request) {
	defer close(w.over)
	resp, err := f.client.Do(r)
	if err != nil {
		w.fail(err)
		return
	}
	defer resp.Body.Close()
	w.mu.Lock()
	w.header = resp.Header
	w.mu.Unlock()
	in, block := bufio.NewReader(resp.Body), ""
	for {
		line, err := in.ReadString('\n')
		block += line
		if err != nil || line == "\n" {
			w.take(block)
			block = ""
		}
		if err != nil {
			w.fail(err)
			return
		}
	}
}

func (w *waiter) take(block string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.raw.WriteString(block)
	switch data := eventsIn(block); {
	case strings.HasPrefix(block, ":"):
		w.comments++
	case strings.HasPrefix(block, "{"):
		w.events = append(w.events, block) // JSON
	default:
		w.events = append(w.events, data...)
	}
}

func (w *waiter) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !errors.Is(err, io.EOF) {
		w.err = err
	}
}

// heard are the messages so far.
func (w *waiter) heard() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events)
}

// begun reports whether the answer has begun.
func (w *waiter) begun() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.header != nil
}

// isOver reports whether the answer has ended.
func (w *waiter) isOver() bool {
	select {
	case <-w.over:
		return true
	default:
		return false
	}
}

// related is the member of `_meta` that names the task.
func related(id string) string {
	return fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%q}}`, id)
}

// wants holds what was heard against what is wanted.
func (w *waiter) wants(t *testing.T, want ...string) {
	t.Helper()
	if got := w.heard(); !slices.Equal(got, want) {
		t.Errorf("heard %d:\n%s\nwant %d:\n%s", len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
	}
}
