package proxy_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"berth/proxy"
	"berth/proxy/outbound"
	"berth/upgrade"
)

// greetRule makes tasks of the calls to greet, as listeners are to hear of them.
func greetRule() upgrade.Rule {
	return upgrade.Rule{
		Tools: []string{"greet"}, TTL: time.Hour, PollInterval: 5 * time.Second, MaxResult: 1 << 20,
		LivePerPrincipal: 1000, LivePerProcess: 1000,
	}
}

// withGreetings returns o with a berth that makes tasks by that rule, and instances whose
// greet does what its name argument says.
func withGreetings(t *testing.T, o rigOptions, rule upgrade.Rule) (_ rigOptions, run func(f *rig)) {
	if o.store == nil {
		o.store = openStore(t, "memory:")
	}
	var tasks *upgrade.Tasks
	before := o.options
	o.options = func(p *proxy.Options) {
		ep := p.Endpoints[0]
		tasks = upgrade.New(upgrade.Options{
			Store: o.store, Keys: p.Keys,
			Pools: []upgrade.Destination{{Routing: ep.Router.Pool, Transport: outbound.Transport(ep)}},
		})
		p.Tasks, p.Rules = tasks, upgrade.Rules{rule}
		if before != nil {
			before(p)
		}
	}
	return o, func(f *rig) {
		f.background(tasks.Run)
		t.Cleanup(func() {
			now, cancel := context.WithCancel(context.Background())
			cancel()
			tasks.Drain(now)
		})
	}
}

// newGreeter is a rig with such a berth and such instances.
func newGreeter(t *testing.T, o rigOptions, rule upgrade.Rule) *rig {
	t.Helper()
	o, run := withGreetings(t, o, rule)
	f := newRig(t, o)
	for _, s := range f.servers {
		s.inject(greetings)
	}
	run(f)
	return f
}

// greetings has greet ask for something first ("ask"), or for two things ("ask both"), tell
// its progress for a while ("tell"), or take its time, a duration.
func greetings(w http.ResponseWriter, r *http.Request, body []byte) bool {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name           string
			Arguments      struct{ Name string }
			InputResponses json.RawMessage
			Meta           struct{ ProgressToken json.RawMessage } `json:"_meta"`
		}
	}
	if json.Unmarshal(body, &m) != nil || m.Method != "tools/call" || m.Params.Name != "greet" {
		return false
	}
	switch does := m.Params.Arguments.Name; does {
	case "ask", "ask both":
		const ask = `{"method":"elicitation/create","params":{"message":"?"}}`
		asks := `"q":` + ask
		if does == "ask both" {
			asks += `,"r":` + ask
		}
		if m.Params.InputResponses == nil {
			return say(jsonType, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"resultType":"input_required","inputRequests":{`+asks+`}}}`)(w, r, body)
		}
	case "tell":
		return streams(func(ctx context.Context, write func(string)) {
			write(`data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + string(m.Params.Meta.ProgressToken) + `,"progress":42,"total":100}}` + "\n\n")
			<-ctx.Done()
		})(w, r, body)
	default:
		takes, _ := time.ParseDuration(does)
		select {
		case <-time.After(takes):
		case <-r.Context().Done():
		}
	}
	return false
}

// greeting makes an upgraded task that does so.
func (f *rig) greeting(does string, header ...string) string {
	f.t.Helper()
	r := f.modern("tools/call", "greet", `"name":"greet","arguments":{"name":"`+does+`"}`, header...)
	if m := r.message(f.t); m.Result != nil && m.Result.ResultType == "task" {
		return m.Result.TaskID
	}
	f.t.Fatalf("no task in %d %q", r.status, r.body)
	return ""
}

// answer gives a task the one thing, or the first of the two, that it asks for.
func (f *rig) answer(id string) {
	f.t.Helper()
	r := f.modern("tasks/update", id, byID(id)+`,"inputResponses":{"q":{"action":"accept","content":{}}}`)
	if m := r.message(f.t); m.Error != nil {
		f.t.Fatalf("answered %d %q", r.status, r.body)
	}
}

// tryToListen asks for a subscription that is to be refused.
func (f *rig) tryToListen(filter string, header ...string) reply {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 10*time.Second)
	defer cancel()
	return f.do(f.modernRequest(ctx, "subscriptions/listen", "", `"notifications":`+filter, header...))
}

// knowsNoSubscriptions answers them as a server does that has no such method.
func knowsNoSubscriptions(w http.ResponseWriter, r *http.Request, body []byte) bool {
	return onMethod("subscriptions/listen", sayStatus(http.StatusNotFound, jsonType,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`))(w, r, body)
}

// first has the first of several faults that answers answer.
func first(faults ...faultFunc) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		for _, fault := range faults {
			if fault(w, r, body) {
				return true
			}
		}
		return false
	}
}

// ends waits for the end of a stream, ten minutes at most.
func (s *subscriber) ends() {
	s.f.t.Helper()
	select {
	case <-s.done:
	case <-time.After(10 * time.Minute):
		s.f.t.Errorf("subscription %s stands", s.id)
	}
}

// statuses are what s was told of tasks, with their messages.
func (s *subscriber) statuses() (out []string) {
	for _, e := range s.heard() {
		var m struct {
			Params struct{ TaskID, Status, StatusMessage string }
		}
		if json.Unmarshal([]byte(e.raw), &m) == nil && e.Method == "notifications/tasks" {
			status := m.Params.TaskID + " " + m.Params.Status
			if m.Params.StatusMessage != "" {
				status += ": " + m.Params.StatusMessage
			}
			out = append(out, status)
		}
	}
	return out
}
