package proxy_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage/redistest"
	"berth/proxy"
	"berth/upgrade"
)

// plainServer has the instance be a legacy server that hands out the session "s1", and
// whose tools are in list. It answers their calls with call.
func (f *upgraded) plainServer(version, capabilities, list string, call faultFunc) {
	f.serves(map[string]faultFunc{
		"initialize": inSession(sayResult(`{"protocolVersion":"` + version + `","capabilities":` + capabilities + `}`)),
		"tools/list": sayResult(`{"tools":` + list + `}`),
		"tools/call": call,
	})
}

// newPlain is a rig before such a server of 2025-11-25, in which a session was begun.
func newPlain(t *testing.T, o rigOptions, rule func(*upgrade.Rule), call faultFunc) *upgraded {
	t.Helper()
	f := newUpgraded(t, o, rule)
	f.plainServer("2025-11-25", `{"tools":{}}`, `[{"name":"work"}]`, call)
	f.greet()
	return f
}

// ownTasks are the capabilities of a server that has tasks of its own.
const ownTasks = `{"tasks":{"requests":{"tools":{"call":{}}}}}`

// newPartial is newPlain before a server with tasks, of which its tools say in lists
// whether they take part in them.
func newPartial(t *testing.T, list faultFunc) *upgraded {
	t.Helper()
	f := newUpgraded(t, rigOptions{}, nil)
	f.plainServer("2025-11-25", ownTasks, `[]`, nil)
	f.greet()
	f.serves(map[string]faultFunc{"tools/list": list, "tools/call": sayResult(plainResult)})
	return f
}

// greet begins the session "s1".
func (f *upgraded) greet(header ...string) {
	f.t.Helper()
	r := f.do(f.request(f.t.Context(), http.MethodPost, message("initialize", `"protocolVersion":"2025-11-25"`), header...))
	if r.header.Get("Mcp-Session-Id") != "s1" {
		f.t.Fatalf("no session: %v", r)
	}
}

const plainResult = `{"content":[{"type":"text","text":"done"}]}`

// callAsTask calls "work" in the session "s1", as a task with these members.
func (f *upgraded) callAsTask(task string, header ...string) reply {
	f.t.Helper()
	return f.do(f.request(f.t.Context(), http.MethodPost, coreCall(task), append(legacyHeader("s1"), header...)...))
}

// coreCall is the body of such a call.
func coreCall(task string) string {
	return message("tools/call", `"name":"work","arguments":{"n":1.0},"task":`+task+`,"_meta":{"progressToken":7}`)
}

// handedTask is what a client of core reads of a task that it was handed.
type handedTask struct {
	TaskID, Status, StatusMessage string
	CreatedAt, LastUpdatedAt      string
	TTL, PollInterval             int64
}

// coreHandle is the task that r hands out.
func (f *upgraded) coreHandle(r reply) handedTask {
	f.t.Helper()
	var m struct {
		Result struct{ Task *handedTask }
		Error  json.RawMessage
	}
	if err := json.Unmarshal([]byte(r.body), &m); err != nil || r.status != http.StatusOK || m.Result.Task == nil || m.Result.Task.TaskID == "" || m.Error != nil {
		f.t.Fatalf("no handle: %v", r)
	}
	return *m.Result.Task
}

// A call that asks to be a task is one, as soon as it is recorded; its server sees a plain
// call, in the client's own session, under an id and a progress token of berth's.
func TestACallThatAsksBecomesACoreTask(t *testing.T) {
	f := newPlain(t, rigOptions{}, nil, sayNothing)
	handle := f.coreHandle(f.callAsTask(`{"ttl":60000}`))
	if handle.Status != "working" || handle.TTL != 60_000 || handle.PollInterval != 1000 || handle.CreatedAt == "" || !f.stands(handle.TaskID) {
		t.Errorf("handed out %+v", handle)
	}
	f.eventually("the call", func() bool { return len(f.seen.of("tools/call")) == 1 })
	sent := f.seen.of("tools/call")[0]
	if got := sent.header.Get("Mcp-Session-Id"); got != "s1" {
		t.Errorf("sent in session %q", got)
	}
	if held, err := f.tasks.Sessions.InSession(t.Context(), upgrade.SessionKey("p", "", "s1")); err != nil || !slices.Equal(held, []string{handle.TaskID}) {
		t.Errorf("held in the session: %v, %v", held, err)
	}
	id, token := string(sent.msg.ID), string(sent.msg.Params.Meta["progressToken"])
	want := strings.NewReplacer(`"id":1`, `"id":`+id, `,"task":{"ttl":60000}`, "", `"progressToken":7`, `"progressToken":`+token).Replace(coreCall(`{"ttl":60000}`))
	if sent.body != want || id == "1" || token == "7" {
		t.Errorf("sent %s, want %s", sent.body, want)
	}
}

// The client's time to live is a wish within bounds.
func TestAskedLifeOfACoreTask(t *testing.T) {
	f := newPlain(t, rigOptions{}, func(r *upgrade.Rule) { r.TTL, r.MaxTTL = time.Minute, time.Hour }, sayResult(plainResult))
	for task, want := range map[string]int64{
		`{}`: 60_000, `{"ttl":null}`: 60_000, `{"ttl":5000}`: 5000, `{"ttl":1}`: 1000, `{"ttl":0}`: 1000, `{"ttl":-7}`: 1000,
		`{"ttl":1e300}`: 3_600_000, `{"ttl":3600001}`: 3_600_000, `{"ttl":1500.5}`: 1500,
	} {
		if got := f.coreHandle(f.callAsTask(task)).TTL; got != want {
			t.Errorf("%s: got %d, want %d", task, got, want)
		}
	}
	before := len(f.seen.of("tools/call"))
	for _, task := range []string{`{"ttl":"60000"}`, `{"ttl":{}}`, `{"ttl":true}`} {
		r := f.callAsTask(task)
		if m := r.message(t); r.status != http.StatusOK || m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("%s: got %v", task, r)
		}
	}
	if n := len(f.seen.of("tools/call")); n > 9 || n < before {
		t.Errorf("%d calls were sent", n)
	}
}

// What becomes of a call: a task, an error, or what the upstream makes of it.
func TestWhichCallsBecomeCoreTasks(t *testing.T) {
	const task, upstream, refused = "task", "upstream", "-32601"
	rule := func(tools ...string) func(*proxy.Options) {
		return func(o *proxy.Options) { o.Rules[0].Tools = tools }
	}
	required := func(o *proxy.Options) { o.Rules[0].Required = true }
	bare, own := `{"tools":{}}`, ownTasks
	says := func(support string) string { return `[{"name":"work","execution":{"taskSupport":"` + support + `"}}]` }
	for name, c := range map[string]struct {
		version, capabilities, list string
		options                     func(*proxy.Options)
		params                      string // beside the name
		want                        string
	}{
		"it asks":                             {"2025-11-25", bare, `[{"name":"work"}]`, nil, `,"task":{}`, task},
		"required":                            {"2025-11-25", bare, `[{"name":"work"}]`, required, `,"task":{}`, task},
		"the default, spelt out":              {"2025-11-25", own, says("forbidden"), nil, `,"task":{}`, task},
		"a server with tasks":                 {"2025-11-25", own, `[{"name":"work"}]`, nil, `,"task":{}`, task},
		"a tool with tasks":                   {"2025-11-25", own, says("optional"), nil, `,"task":{}`, upstream},
		"a tool with tasks alone":             {"2025-11-25", own, says("required"), nil, `,"task":{}`, upstream},
		"a tool with tasks, a server without": {"2025-11-25", bare, says("optional"), nil, `,"task":{}`, task},
		"no rule for the tool":                {"2025-11-25", bare, `[{"name":"work"}]`, rule("other"), `,"task":{}`, refused},
		"no rule, a server with tasks":        {"2025-11-25", own, `[{"name":"work"}]`, rule("other"), `,"task":{}`, upstream},
		"a tool that is not listed":           {"2025-11-25", bare, `[]`, nil, `,"task":{}`, task},
		"no list":                             {"2025-11-25", bare, `7`, nil, `,"task":{}`, task},
		"it does not ask":                     {"2025-11-25", bare, `[{"name":"work"}]`, nil, ``, upstream},
		"null":                                {"2025-11-25", bare, `[{"name":"work"}]`, nil, `,"task":null`, upstream},
		"no object":                           {"2025-11-25", bare, `[{"name":"work"}]`, nil, `,"task":true`, upstream},
		"it does not ask, required":           {"2025-11-25", bare, `[{"name":"work"}]`, required, ``, refused},
		"no object, required":                 {"2025-11-25", bare, `[{"name":"work"}]`, required, `,"task":[]`, refused},
		"before":                              {"2025-06-18", bare, `[{"name":"work"}]`, nil, `,"task":{}`, upstream},
		"before, no rule":                     {"2025-06-18", bare, `[{"name":"work"}]`, rule("other"), `,"task":{}`, upstream},
		"before, required":                    {"2025-03-26", bare, `[{"name":"work"}]`, required, `,"task":{}`, refused},
	} {
		t.Run(name, func(t *testing.T) {
			f := newUpgraded(t, rigOptions{options: c.options}, nil)
			f.plainServer(c.version, c.capabilities, c.list, sayResult(plainResult))
			f.greet()
			body := message("tools/call", `"name":"work"`+c.params)
			r := f.do(f.request(t.Context(), http.MethodPost, body, "Mcp-Session-Id", "s1"))
			switch c.want {
			case task:
				f.coreHandle(r)
			case upstream:
				if m := r.message(t); m.Error != nil || !strings.Contains(r.body, plainResult) {
					t.Fatalf("got %v", r)
				}
				if calls := f.seen.of("tools/call"); len(calls) != 1 || calls[0].body != body {
					t.Errorf("sent %v, want %s", calls, body)
				}
			case refused:
				if m := r.message(t); r.status != http.StatusOK || m.Error == nil || m.Error.Code != -32601 {
					t.Fatalf("got %v", r)
				}
				if calls := f.seen.of("tools/call"); len(calls) != 0 {
					t.Errorf("sent %v", calls)
				}
			}
		})
	}
}

// A call without a session is of the version that it names, and what such a server promised
// last counts.
func TestACoreTaskWithoutASession(t *testing.T) {
	f := newUpgraded(t, rigOptions{options: func(o *proxy.Options) { o.Rules[0].Tools = []string{"work"} }}, nil)
	f.plainServer("2025-11-25", `{}`, `[{"name":"work"}]`, sayResult(plainResult))
	call := func(tool, version string) reply {
		body := strings.Replace(coreCall(`{}`), "work", tool, 1)
		return f.do(f.request(t.Context(), http.MethodPost, body, "MCP-Protocol-Version", version))
	}
	f.coreHandle(call("work", "2025-11-25"))
	for _, c := range [][2]string{{"work", "2025-06-18"}, {"work", ""}, {"else", "2025-11-25"}} {
		if r := call(c[0], c[1]); !strings.Contains(r.body, plainResult) {
			t.Errorf("%s: got %v", c, r)
		}
	}
	f.greet()
	call("else", "2025-11-25").hasCode(t, http.StatusOK, -32601)
	if r := call("else", "2025-06-18"); !strings.Contains(r.body, plainResult) {
		t.Errorf("got %v", r)
	}
}

// In this era a client that leaves gives nothing up: its call runs as a task.
func TestACoreTaskOutlivesItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listed := make(chan struct{})
		f := newPartial(t, func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			close(listed)
			time.Sleep(time.Second) // the bubble's
			return sayResult(`{"tools":[]}`)(w, r, body)
		})
		ctx, leave := context.WithCancel(t.Context())
		go func() {
			<-listed
			leave()
		}()
		if _, err := f.client.Do(f.request(ctx, http.MethodPost, coreCall(`{}`), legacyHeader("s1")...)); err == nil {
			t.Fatal("the client has an answer")
		}
		f.eventually("the call", func() bool { return len(f.seen.of("tools/call")) == 1 })
	})
}

// While the store is away no tool runs for a client that wants a task, whatever the rule
// says: it could not take the plain result.
func TestStoreThatIsDownRefusesCoreTasks(t *testing.T) {
	for _, policy := range []upgrade.StorePolicy{upgrade.StoreSync, upgrade.StoreRefuse} {
		t.Run(string(policy), func(t *testing.T) {
			redis := redistest.Start(t)
			f := newPlain(t, rigOptions{store: openStore(t, redis.URL())}, func(r *upgrade.Rule) { r.OnStoreDown = policy }, sayResult(plainResult))
			f.outcome(f.coreHandle(f.callAsTask(`{}`)).TaskID)
			f.eventually("no held call", func() bool { return f.tasks.Held() == 0 })
			redis.Kill()
			f.callAsTask(`{}`).fails(t, http.StatusServiceUnavailable, -31503, "store_unavailable", true)
			if n := len(f.seen.of("tools/call")); n != 1 {
				t.Errorf("%d calls were sent", n-1)
			}
		})
	}
}

// Calls of a rule with `after` wait for nobody who wants a task.
func TestAfterDoesNotApplyToCoreTasks(t *testing.T) {
	f := newPlain(t, rigOptions{}, func(r *upgrade.Rule) { r.After = time.Hour }, sayNothing)
	f.coreHandle(f.callAsTask(`{}`))
}

// A call with a key is made once, in whichever session it comes.
func TestACoreTaskIsMadeOnce(t *testing.T) {
	f := newPlain(t, rigOptions{}, nil, sayNothing)
	first := f.coreHandle(f.callAsTask(`{}`, "Idempotency-Key", "k"))
	again := f.coreHandle(f.callAsTask(`{}`, "Idempotency-Key", "k"))
	if again.TaskID != first.TaskID {
		t.Errorf("got %+v, then %+v", first, again)
	}
	f.callAsTask(`{"ttl":5000}`, "Idempotency-Key", "k").hasCode(t, http.StatusUnprocessableEntity, -32600)
	f.callAsTask(`{}`, "Idempotency-Key", "").hasCode(t, http.StatusBadRequest, -32600)
	f.eventually("the call", func() bool { return len(f.seen.of("tools/call")) == 1 })
	if sent := f.seen.of("tools/call")[0].header.Get("Idempotency-Key"); sent != "" {
		t.Errorf("the key went out as %q", sent)
	}
}

// hasCode fails the test unless r is an error of this status and code.
func (r reply) hasCode(t *testing.T, status, code int) {
	t.Helper()
	if m := r.message(t); r.status != status || m.Error == nil || m.Error.Code != code {
		t.Errorf("got %v, want %d, %d", r, status, code)
	}
}

// Bounds are those of the extension's tasks.
func TestLiveCoreTasksOfAPrincipalAreBounded(t *testing.T) {
	f := newUpgraded(t, rigOptions{principals: true}, func(r *upgrade.Rule) { r.LivePerPrincipal = 1 })
	f.plainServer("2025-11-25", `{}`, `[{"name":"work"}]`, sayNothing)
	f.greet(userHeader, "alice")
	f.coreHandle(f.callAsTask(`{}`, userHeader, "alice"))
	f.callAsTask(`{}`, userHeader, "alice").fails(t, http.StatusTooManyRequests, -31429, "too_many_tasks", true)
	f.eventually("the call", func() bool { return len(f.seen.of("tools/call")) == 1 })
}

// An access record says what became of the call, as it does of the extension's.
func TestAccessRecordOfACoreTask(t *testing.T) {
	access := new(realtest.Journal)
	f := newPlain(t, rigOptions{options: func(o *proxy.Options) {
		o.AccessLog = slog.New(slog.NewTextHandler(access, nil))
	}}, nil, sayResult(plainResult))
	id := f.coreHandle(f.callAsTask(`{}`)).TaskID
	want := "method=tools/call era=legacy pool=p version=2025-11-25 tool=work task=" + id + " source=upgraded status=200 outcome=ok"
	realtest.Eventually(t, "an access record", func() bool { return strings.Contains(access.String(), want) })
}

// outcome is what the call of a task returned.
func (f *upgraded) outcome(id string) string {
	f.t.Helper()
	var v upgrade.View
	f.eventually("the end of the call", func() bool {
		var err error
		if v, err = f.tasks.Reader.Get(f.t.Context(), id, upgrade.Asker{Pool: "p"}); err != nil {
			f.t.Fatal(err)
		}
		return v.State.Terminal()
	})
	return string(v.Outcome)
}
