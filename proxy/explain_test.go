package proxy_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/internal/api"
	"berth/internal/limit"
	"berth/internal/storage/redistest"
	"berth/internal/wire"
	"berth/proxy"
	"berth/proxy/explain"
	"berth/proxy/inbound"
	"berth/routing"
	"berth/upgrade"
)

// explains asks what would become of a request, and takes care that it can be sent after that. Nobody may notice.
func (f *rig) explains(req *http.Request, caller *string) api.Explanation {
	f.t.Helper()
	dump, err := httputil.DumpRequestOut(req, true)
	if err != nil {
		f.t.Fatal(err)
	}
	sent, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(dump)))
	if err != nil {
		f.t.Fatal(err)
	}
	body, _ := io.ReadAll(sent.Body)
	question := explain.NewQuestion(sent.Method, sent.URL, sent.Host, wire.FromLists(sent.Header), body)
	question.RemoteAddr = "127.0.0.1:1" // as memnet has it
	before := f.noticed()
	told := f.proxy.Explainer().Explain(f.t.Context(), explain.Question{HTTP: question, Caller: caller})
	if after := f.noticed(); after != before {
		f.t.Errorf("explaining was noticed: %s, before it %s", after, before)
	}
	return told
}

// noticed is what upstreams have heard.
func (f *rig) noticed() string {
	var heard []string
	for _, method := range []string{"tools/call", "tools/list", "tasks/get", "tasks/result", "ping", "server/discover", "initialize"} {
		heard = append(heard, method, strconv.Itoa(f.calls(method)))
	}
	for _, u := range f.pool.Upstreams() {
		heard = append(heard, u.Name, strconv.Itoa(u.InFlight()))
	}
	return strings.Join(heard, ",")
}

// holds compares what was told of a request with what became of it.
func holds(t *testing.T, told api.Explanation, got reply, went api.Decision) {
	t.Helper()
	switch told.Answer.Action {
	case "refuse":
		m := got.parsed()
		if got.status != told.Answer.Status || told.Answer.Code != m.Error.Data.Reason && told.Answer.Code != strconv.Itoa(m.Error.Code) || went.Attempts > 0 {
			t.Errorf("told %+v, got %v after %d attempts", told.Answer, got, went.Attempts)
		}
	case "forward":
		if went.Upstream == "" || !strings.Contains(" "+strings.NewReplacer(",", " ", ":", " ").Replace(told.Answer.Detail)+" ", " "+went.Upstream+" ") {
			t.Errorf("told %+v, went to %q with %v", told.Answer, went.Upstream, got)
		}
	case "answer":
		if went.Attempts > 0 || got.status != told.Answer.Status {
			t.Errorf("told %+v, got %v after %d attempts", told.Answer, got, went.Attempts)
		}
	case "ask":
		if got.status != told.Answer.Status || strconv.Itoa(got.code()) != told.Answer.Code {
			t.Errorf("told %+v, got %v", told.Answer, got)
		}
	default:
		t.Errorf("told %+v", told.Answer)
	}
	if told.Owner != "" && told.Answer.Action == "forward" && told.Owner != went.Upstream {
		t.Errorf("told owner %s, went to %s", told.Owner, went.Upstream)
	}
}

// ratedOnce has one rule: the tool may be called once, and once more an hour.
func ratedOnce() rigOptions {
	return rigOptions{endpoint: func(ep *proxy.Endpoint) {
		ep.Rates = []inbound.RateRule{{Limit: limit.NewShared("greets", 1.0/3600, 1, nil), Tools: []upgrade.Glob{"greet"}, Per: inbound.PerPool}}
	}}
}

// What is explained of a request is what becomes of it: the same code decides.
func TestWhatIsExplainedIsWhatHappens(t *testing.T) {
	post := func(f *rig, body string, header ...string) *http.Request {
		return f.request(f.t.Context(), http.MethodPost, body, header...)
	}
	greet := func(f *rig, header ...string) *http.Request {
		return f.modernRequest(f.t.Context(), "tools/call", "greet", `"name":"greet","arguments":{"name":"x"}`, header...)
	}
	pollOf := func(f *rig, id string) *http.Request {
		return f.modernRequest(f.t.Context(), "tasks/get", id, byID(id))
	}
	for name, c := range map[string]struct {
		options rigOptions
		rule    func(*upgrade.Rule) // not nil: calls become tasks
		request func(f *rig) *http.Request
		asSent  bool // its caller is whom its headers name
		want    string
	}{
		"a call for anybody":             {request: func(f *rig) *http.Request { return greet(f) }, want: "forward"},
		"a call, one upstream drains":    {request: func(f *rig) *http.Request { drain(f, "a"); return greet(f) }, want: "forward"},
		"a call, nobody takes work":      {request: func(f *rig) *http.Request { drain(f, "a", "b", "c"); return greet(f) }, want: "refuse"},
		"a call, one upstream is silent": {options: rigOptions{probe: true}, request: func(f *rig) *http.Request { silence(f, "a"); return greet(f) }, want: "forward"},
		"a poll of a bound task":         {request: func(f *rig) *http.Request { return pollOf(f, f.newTask(60)) }, want: "forward"},
		"a poll whose owner drains":      {request: func(f *rig) *http.Request { id := f.newTask(60); drain(f, "a"); return pollOf(f, id) }, want: "forward"},
		"a poll of a silent owner":       {options: rigOptions{probe: true}, request: func(f *rig) *http.Request { id := f.newTask(60); silence(f, "a"); return pollOf(f, id) }, want: "answer"},
		"a word to a silent owner": {options: rigOptions{probe: true}, request: func(f *rig) *http.Request {
			id := f.newTask(60)
			silence(f, "a")
			return f.modernRequest(f.t.Context(), "tasks/cancel", id, byID(id))
		}, want: "refuse"},
		"a poll of an unknown task":         {request: func(f *rig) *http.Request { return pollOf(f, "nobody-made-it") }, want: "ask"},
		"a poll that the fleet just denied": {request: func(f *rig) *http.Request { f.poll("denied"); return pollOf(f, "denied") }, want: "refuse"},
		"a poll without the extension": {request: func(f *rig) *http.Request {
			return post(f, message("tasks/get", byID("x")+`,"_meta":{`+metaVersion+`}`), modernHeader("tasks/get", "x")...)
		}, want: "refuse"},
		"a poll that is another principal's": {options: rigOptions{principals: true}, request: func(f *rig) *http.Request {
			return f.modernRequest(f.t.Context(), "tasks/get", "x", byID("x"), userHeader, "bob")
		}, want: "refuse"},
		"a poll with its principal's credential": {options: rigOptions{principals: true}, asSent: true, request: func(f *rig) *http.Request {
			id := f.do(f.modernRequest(f.t.Context(), "tools/call", "slow_compute", slowCompute(60), userHeader, "alice")).parsed().Result.TaskID
			return f.modernRequest(f.t.Context(), "tasks/get", id, byID(id), userHeader, "alice")
		}, want: "forward"},
		"a poll with another's credential": {options: rigOptions{principals: true}, asSent: true, request: func(f *rig) *http.Request {
			id := f.do(f.modernRequest(f.t.Context(), "tools/call", "slow_compute", slowCompute(60), userHeader, "alice")).parsed().Result.TaskID
			return f.modernRequest(f.t.Context(), "tasks/get", id, byID(id), userHeader, "bob")
		}, want: "refuse"},
		"a repetition under its key that no rate counts": {options: ratedOnce(), rule: func(*upgrade.Rule) {}, request: func(f *rig) *http.Request {
			madeOf(f, greet(f, "Idempotency-Key", "k"))
			return greet(f, "Idempotency-Key", "k")
		}, want: "answer"},
		"the same without its key": {options: ratedOnce(), rule: func(*upgrade.Rule) {}, request: func(f *rig) *http.Request {
			madeOf(f, greet(f, "Idempotency-Key", "k"))
			return greet(f)
		}, want: "refuse"},
		"headers that contradict":          {request: func(f *rig) *http.Request { return greet(f, "Mcp-Name", "other") }, want: "refuse"},
		"no JSON":                          {request: func(f *rig) *http.Request { return post(f, "{") }, want: "refuse"},
		"a method that HTTP does not have": {request: func(f *rig) *http.Request { return f.request(f.t.Context(), http.MethodPut, "{}") }, want: "refuse"},
		"a session's call":                 {request: func(f *rig) *http.Request { return f.legacyRequest(f.t.Context(), f.initialize(), "tools/list", "") }, want: "forward"},
		"a call in an unknown session":     {request: func(f *rig) *http.Request { return f.legacyRequest(f.t.Context(), "nobodys", "tools/list", "") }, want: "ask"},
		"a task in a session": {request: func(f *rig) *http.Request {
			s := f.initialize()
			return f.legacyRequest(f.t.Context(), s, "tasks/get", byID(f.newCoreTask(s, 60)))
		}, want: "forward"},
		"a call that becomes a task":       {rule: func(*upgrade.Rule) {}, request: func(f *rig) *http.Request { return greet(f) }, want: "answer"},
		"a call while all upstreams drain": {rule: func(*upgrade.Rule) {}, request: func(f *rig) *http.Request { drain(f, f.pool.Names()...); return greet(f) }, want: "refuse"},
		"a client that takes no task":      {rule: func(*upgrade.Rule) {}, request: func(f *rig) *http.Request { return plainGreet(f) }, want: "forward"},
		"a rule that insists on a task":    {rule: func(r *upgrade.Rule) { r.Required = true }, request: func(f *rig) *http.Request { return plainGreet(f) }, want: "refuse"},
		"a poll of berth's own task":       {rule: func(*upgrade.Rule) {}, request: func(f *rig) *http.Request { return pollOf(f, madeOf(f, greet(f))) }, want: "answer"},
		"a task of berth's that is none":   {rule: func(*upgrade.Rule) {}, request: func(f *rig) *http.Request { id := madeOf(f, greet(f)); return pollOf(f, id[:len(id)-1]+"x") }, want: "ask"},
		"a method for berth's tasks only":  {rule: func(*upgrade.Rule) {}, request: func(f *rig) *http.Request { return f.modernRequest(f.t.Context(), "tasks/result", "x", byID("x")) }, want: "refuse"},
		"one task too many of a principal": {options: rigOptions{principals: true}, asSent: true, rule: func(r *upgrade.Rule) { r.LivePerPrincipal = 1 }, request: func(f *rig) *http.Request {
			f.servers[0].inject(sayNothing)
			f.do(greet(f, userHeader, "alice"))
			return greet(f, userHeader, "alice")
		}, want: "refuse"},
		"one task too many of a process": {rule: func(r *upgrade.Rule) { r.LivePerProcess = 1 }, request: func(f *rig) *http.Request {
			f.servers[0].inject(sayNothing)
			f.do(greet(f))
			return greet(f)
		}, want: "refuse"},
		"one task more than may be kept": {options: rigOptions{kept: upgrade.Bounds{TasksPerCaller: 1}}, rule: func(*upgrade.Rule) {}, request: func(f *rig) *http.Request {
			madeOf(f, greet(f))
			return greet(f)
		}, want: "refuse"},
		"another call under a key": {rule: func(*upgrade.Rule) {}, request: func(f *rig) *http.Request {
			madeOf(f, f.modernRequest(f.t.Context(), "tools/call", "greet", `"name":"greet","arguments":{"name":"y"}`, "Idempotency-Key", "k"))
			return greet(f, "Idempotency-Key", "k")
		}, want: "refuse"},
		"an update without answers": {rule: func(*upgrade.Rule) {}, request: func(f *rig) *http.Request {
			id := madeOf(f, greet(f))
			return f.modernRequest(f.t.Context(), "tasks/update", id, byID(id))
		}, want: "refuse"},
		"too many polls":                  {options: rigOptions{options: func(o *proxy.Options) { o.Limits.Polls = 0.1 }}, request: func(f *rig) *http.Request { f.poll("x"); return pollOf(f, "y") }, want: "refuse"},
		"a tool whose rule has room":      {options: ratedOnce(), request: func(f *rig) *http.Request { return greet(f) }, want: "forward"},
		"a tool that is called too often": {options: ratedOnce(), request: func(f *rig) *http.Request { f.do(greet(f)); return greet(f) }, want: "refuse"},
		"too many unknown ids":            {options: rigOptions{options: func(o *proxy.Options) { o.Limits.UnknownIDs = 0.1 }}, request: func(f *rig) *http.Request { f.poll("x"); return pollOf(f, "y") }, want: "refuse"},
	} {
		t.Run(name, func(t *testing.T) {
			last := new(proxy.Decisions)
			o, inner := c.options, c.options.options
			o.options = func(options *proxy.Options) {
				options.Decisions = last
				if inner != nil {
					inner(options)
				}
			}
			var f *rig
			if c.rule != nil {
				f = newUpgraded(t, o, c.rule).rig
			} else {
				f = newRig(t, o)
			}
			req := c.request(f)
			var caller *string
			if c.options.principals && !c.asSent {
				caller = new("bob")
			}
			told := f.explains(req, caller)
			if told.Answer.Action != c.want {
				t.Errorf("told %+v by %+v, want %q", told.Answer, told.Steps, c.want)
			}
			seen := len(last.Last(proxy.DecisionsKept, anyDecision))
			got := f.do(req)
			f.eventually("the decision", func() bool { return len(last.Last(proxy.DecisionsKept, anyDecision)) > seen })
			holds(t, told, got, last.Last(1, anyDecision)[0])
		})
	}
}

// What becomes of a call while the store is away is what its rule says.
func TestWhatIsExplainedWhileTheStoreIsAway(t *testing.T) {
	for policy, want := range map[upgrade.StorePolicy]string{upgrade.StoreSync: "forward", upgrade.StoreRefuse: "refuse"} {
		redis := redistest.Start(t)
		f := newUpgraded(t, rigOptions{store: openStore(t, redis.URL())}, func(r *upgrade.Rule) { r.OnStoreDown = policy })
		f.answers(sayResult(done))
		greet := func(header ...string) *http.Request {
			return f.modernRequest(t.Context(), "tools/call", "greet", `"name":"greet","arguments":{}`, header...)
		}
		redis.Kill()
		f.eventually("what the rule says", func() bool { return f.explains(greet(), nil).Answer.Action == want })
		if told := f.explains(greet("Idempotency-Key", "k"), nil); told.Answer.Code != "store_unavailable" {
			t.Errorf("%s: with a key: told %+v", policy, told.Answer)
		}
	}
}

func anyDecision(*api.Decision) bool { return true }

// plainGreet is a call by a client that takes no tasks.
func plainGreet(f *rig) *http.Request {
	return f.request(f.t.Context(), http.MethodPost, message("tools/call", `"name":"greet","arguments":{"name":"x"},"_meta":{`+metaVersion+`}`), modernHeader("tools/call", "greet")...)
}

// madeOf is the task that a call becomes, whose upstream has answered.
func madeOf(f *rig, req *http.Request) string {
	id := f.do(req).parsed().Result.TaskID
	f.eventually("nothing is under way", func() bool {
		return !slices.ContainsFunc(f.pool.Upstreams(), func(u *routing.Upstream) bool { return u.InFlight() > 0 })
	})
	return id
}

func drain(f *rig, names ...string) {
	marks := map[string]routing.Drain{}
	for _, name := range names {
		marks[name] = routing.Drain{Since: time.Now()}
	}
	f.pool.SetDrains(marks)
}

func silence(f *rig, name string) {
	u := f.pool.Find(name)
	f.servers[0].kill()
	f.pool.FellSilent(u, errors.New("it was killed"))
}
