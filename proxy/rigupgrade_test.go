package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/proxy"
	"berth/proxy/outbound"
	"berth/upgrade"
)

// upgraded is a rig of one instance whose tools' calls become tasks. The instance knows
// nothing of tasks: what it answers is injected.
type upgraded struct {
	*rig
	store *storage.Store
	tasks *upgrade.Tasks
	seen  *rounds
}

// everyTool is a rule for all tools, as the configuration fills one in.
func everyTool(change func(*upgrade.Rule)) upgrade.Rule {
	r := upgrade.Rule{
		Tools: []string{"*"}, TTL: time.Hour, PollInterval: time.Second, Timeout: time.Hour,
		RefusalGrace: 100 * time.Millisecond, MaxResult: 8 << 20, LivePerPrincipal: 100, LivePerProcess: 10_000,
	}
	if change != nil {
		change(&r)
	}
	return r
}

// newUpgraded makes the rig with one rule. What o says of options comes after it.
func newUpgraded(t *testing.T, o rigOptions, change func(*upgrade.Rule)) *upgraded {
	t.Helper()
	f := &upgraded{store: o.store, seen: new(rounds)}
	if f.store == nil {
		f.store = openStore(t, "memory:")
	}
	if o.size == 0 {
		o.size = 1
	}
	f.rig = newRig(t, f.makes(o, change))
	f.background(f.tasks.Run)
	realtest.Eventually(t, "a store that serves", f.store.Healthy)
	// What is held ends before the store does, and before a bubble looks for leftovers.
	t.Cleanup(func() {
		for _, s := range f.servers {
			s.kill()
		}
		now, cut := context.WithCancel(context.Background())
		cut()
		f.tasks.Drain(now) // what queues would wait for them
		realtest.Eventually(f.t, "the end of held calls", func() bool { return f.tasks.Held() == 0 })
	})
	return f
}

// makes returns o with a berth that makes tasks by one rule.
func (f *upgraded) makes(o rigOptions, change func(*upgrade.Rule)) rigOptions {
	inner := o.options
	o.store, o.options = f.store, func(options *proxy.Options) {
		made := upgrade.Options{Store: f.store, Keys: seal.NewStoredKeyring(f.store), Kept: o.kept, Unsaved: o.unsaved, Traced: o.traced}
		for _, ep := range options.Endpoints {
			made.Pools = append(made.Pools, upgrade.Destination{Routing: ep.Router.Pool, Transport: outbound.Transport(ep), OwnCredentials: ep.Authorization != nil})
		}
		f.tasks = upgrade.New(made)
		options.Tasks, options.Rules, options.Keys = f.tasks, upgrade.Rules{everyTool(change)}, made.Keys
		if inner != nil {
			inner(options)
		}
	}
	return o
}

// rounds keeps what an instance was sent.
type rounds struct {
	mu   sync.Mutex // guards the field below
	sent []round
}

type round struct {
	header http.Header
	body   string
	msg    struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name           string
			TaskID         string
			RequestState   *string
			InputResponses map[string]json.RawMessage
			Meta           map[string]json.RawMessage `json:"_meta"`
		}
	}
}

func (r *rounds) note(request *http.Request, body []byte) (n int) {
	kept := round{header: request.Header.Clone(), body: string(body)}
	_ = json.Unmarshal(body, &kept.msg) // what is no message is empty
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, kept)
	return len(r.sent)
}

func (r *rounds) all() []round {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sent)
}

// of returns what was sent of one method.
func (r *rounds) of(method string) (of []round) {
	for _, kept := range r.all() {
		if kept.msg.Method == method {
			of = append(of, kept)
		}
	}
	return of
}

// answers has the instance answer the n-th tools/call with the n-th fault, those after
// the last one with that. Whatever else comes it answers itself.
func (f *upgraded) answers(faults ...faultFunc) {
	f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		f.seen.note(r, body)
		n := len(f.seen.of("tools/call"))
		return methodIn(body) == "tools/call" && faults[min(n, len(faults))-1](w, r, body)
	})
}

// sayResult answers with a result under the request's own id.
func sayResult(result string) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return say(jsonType, response(body, `"result":`+result))(w, r, body)
	}
}

func sayError(object string) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return say(jsonType, response(body, `"error":`+object))(w, r, body)
	}
}

func response(request []byte, outcome string) string {
	var m struct{ ID json.RawMessage }
	_ = json.Unmarshal(request, &m)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, outcome)
}

// until answers once c is closed, unless the caller leaves first.
func until(c <-chan struct{}, answer faultFunc) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		select {
		case <-c:
		case <-r.Context().Done():
			return true
		}
		return answer(w, r, body)
	}
}

// sayNothing holds the call until its caller leaves.
func sayNothing(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
	<-r.Context().Done()
	return true
}

const done = `{"resultType":"complete","content":[{"type":"text","text":"done"}]}`

// callTool calls "work" as a client that takes tasks.
func (f *upgraded) callTool(header ...string) reply {
	f.t.Helper()
	return f.modern("tools/call", "work", `"name":"work","arguments":{}`, header...)
}

// taskOf is the task that r hands out.
func (f *upgraded) taskOf(r reply) string {
	f.t.Helper()
	m := r.message(f.t)
	if r.status != http.StatusOK || m.Result == nil || m.Result.ResultType != "task" || m.Result.TaskID == "" {
		f.t.Fatalf("no handle: %v", r)
	}
	return m.Result.TaskID
}

// made makes a task.
func (f *upgraded) made(header ...string) string {
	f.t.Helper()
	return f.taskOf(f.callTool(header...))
}

// view is what a client reads of a task of berth's own.
type view struct {
	ResultType, TaskID, Status, StatusMessage string
	CreatedAt, LastUpdatedAt                  string
	TTLMs, PollIntervalMs                     int64
	Result, Error                             json.RawMessage
	InputRequests                             map[string]json.RawMessage
}

// look polls a task once.
func (f *upgraded) look(id string, header ...string) view {
	f.t.Helper()
	r := f.poll(id, header...)
	var m struct{ Result *view }
	if err := json.Unmarshal([]byte(r.body), &m); err != nil || r.status != http.StatusOK || m.Result == nil {
		f.t.Fatalf("polled: %v", r)
	}
	return *m.Result
}

// reaches polls a task until it has this status.
func (f *upgraded) reaches(id, status string, header ...string) (v view) {
	f.t.Helper()
	f.eventually("task "+status, func() bool {
		v = f.look(id, header...)
		return v.Status == status
	})
	return v
}

// answer gives a task its client's answers.
func (f *upgraded) answer(id, responses string, header ...string) reply {
	f.t.Helper()
	return f.modern("tasks/update", id, byID(id)+`,"inputResponses":`+responses, header...)
}

// stands reports whether the store has the record of a task.
func (f *upgraded) stands(id string) bool {
	_, err := f.store.Get(f.t.Context(), "upgrade:{"+id+"}")
	return err == nil
}
