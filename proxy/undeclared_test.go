package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"berth/upgrade"
)

const declaresAll = `"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}`

// callDeclaring calls "work" as a client that takes tasks and declares this besides.
func (f *upgraded) callDeclaring(capabilities string) reply {
	f.t.Helper()
	body := strings.Replace(modernMessage("tools/call", `"name":"work","arguments":{}`), declaresAll+",", capabilities, 1)
	return f.do(f.request(f.t.Context(), http.MethodPost, body, modernHeader("tools/call", "work")...))
}

func askingFor(method, params string) string {
	return `{"resultType":"input_required","inputRequests":{"k":{"method":"` + method + `","params":{` + params + `}}},"requestState":"s"}`
}

// All that a round would have taken is said.
func TestAllThatIsUndeclaredOfARoundIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		f.answers(sayResult(`{"resultType":"input_required","requestState":"s","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?"}},` +
			`"b":{"method":"roots/list"},"c":{"method":"elicitation/create","params":{"mode":"url","message":"?","url":"https://x"}},"d":{"method":"sampling/createMessage","params":{"messages":[]}}}}`))
		const want = `"data":{"requiredCapabilities":{"elicitation":{"form":{},"url":{}},"sampling":{}}}`
		if v := f.reaches(f.taskOf(f.callDeclaring(`"roots":{},`)), "failed"); !strings.Contains(string(v.Error), want) {
			t.Errorf("got %s, want %s", v.Error, want)
		}
	})
}

// A client is not shown what it has not declared to answer: the task fails, and says what it
// would have taken.
func TestUndeclaredInputFailsTheTask(t *testing.T) {
	for name, c := range map[string]struct {
		declares, method, params string
		lacks                    string // "": nothing
	}{
		"a form":                 {`"elicitation":{},`, "elicitation/create", `"message":"?"`, ""},
		"no form":                {``, "elicitation/create", `"message":"?"`, `{"elicitation":{"form":{}}}`},
		"a URL for one of forms": {`"elicitation":{},`, "elicitation/create", `"mode":"url","message":"?","url":"https://x"`, `{"elicitation":{"url":{}}}`},
		"a form for one of URLs": {`"elicitation":{"url":{}},`, "elicitation/create", `"message":"?"`, `{"elicitation":{"form":{}}}`},
		"a sample":               {`"sampling":{},`, "sampling/createMessage", `"messages":[]`, ""},
		"no sample":              {`"roots":{},`, "sampling/createMessage", `"messages":[]`, `{"sampling":{}}`},
		"a sample with tools":    {`"sampling":{},`, "sampling/createMessage", `"messages":[],"tools":[]`, `{"sampling":{"tools":{}}}`},
		"no roots":               {`"sampling":{},`, "roots/list", ``, `{"roots":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, nil)
				f.answers(sayResult(askingFor(c.method, c.params)))
				id := f.taskOf(f.callDeclaring(c.declares))
				if c.lacks == "" {
					f.reaches(id, "input_required")
					return
				}
				want := `"code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":` + c.lacks + `}`
				if v := f.reaches(id, "failed"); !strings.Contains(string(v.Error), want) {
					t.Errorf("got %s, want %s", v.Error, want)
				}
				if n := len(f.seen.of("tools/call")); n != 1 {
					t.Errorf("%d rounds", n)
				}
			})
		})
	}
}

// What no client can be asked fails the task as well, whatever its client has declared.
func TestWhatNoClientCanBeAskedFailsTheTask(t *testing.T) {
	for name, c := range map[string]struct{ method, params, want string }{
		"another method": {"another/method", ``, `"code":-32601,"message":"Method not found"`},
		"no message":     {"elicitation/create", ``, `"code":-32602,"message":"Invalid params: no client could read what is asked"`},
		"no such mode":   {"elicitation/create", `"mode":"bogus","message":"?"`, `"code":-32602,"message":"Invalid params: no client could read what is asked"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, nil)
				f.answers(sayResult(askingFor(c.method, c.params)))
				id := f.taskOf(f.callDeclaring(`"elicitation":{},`))
				if v := f.reaches(id, "failed"); !strings.Contains(string(v.Error), c.want) {
					t.Errorf("got %s, want %s", v.Error, c.want)
				}
			})
		})
	}
}

// A task of the upstream's own that asks so is given up there.
func TestUndeclaredInputOfAFollowedTaskEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			f.seen.note(r, body)
			return sayResult(`{"resultType":"task","taskId":"theirs","status":"input_required","inputRequests":{"k":{"method":"roots/list"}}}`)(w, r, body)
		})
		id := f.taskOf(f.callDeclaring(""))
		if v := f.reaches(id, "failed"); !strings.Contains(string(v.Error), `{"roots":{}}`) {
			t.Errorf("got %s", v.Error)
		}
		f.eventually("the end of the upstream's task", func() bool { return len(f.seen.of("tasks/cancel")) == 1 })
	})
}

// Within `after` the answer is the upstream's, as it is where no rule names the tool.
func TestUndeclaredInputPassesWithinAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, waits)
		f.answers(sayResult(askingFor("roots/list", "")))
		if r := f.callDeclaring(""); r.message(t).Result == nil || r.message(t).Result.ResultType != "input_required" {
			t.Errorf("got %v", r)
		}
	})
}

// In a session what the client declared as it began counts: what it did not is answered in
// its place, and the task goes on. Where nobody knows, it is asked.
func TestUndeclaredQuestionIsAnsweredInTheClientsPlace(t *testing.T) {
	for name, c := range map[string]struct {
		capabilities string // params of initialize
		question     string
		code         int // 0: the client is asked
	}{
		"declared":           {`,"capabilities":{"elicitation":{}}`, `"elicitation/create","params":{"message":"?"}`, 0},
		"nobody knows":       {``, `"elicitation/create","params":{"message":"?"}`, 0},
		"undeclared":         {`,"capabilities":{}`, `"elicitation/create","params":{"message":"?"}`, -32601},
		"a mode":             {`,"capabilities":{"elicitation":{}}`, `"elicitation/create","params":{"mode":"url"}`, -32602},
		"another capability": {`,"capabilities":{"elicitation":{}}`, `"roots/list"`, -32601},
	} {
		t.Run(name, func(t *testing.T) {
			f := newCoreRig(t, rigOptions{}, func(r *upgrade.Rule) { r.RefusalGrace = 0 })
			r := f.legacy("", "initialize", `"protocolVersion":"2025-11-25","clientInfo":{"name":"c","version":"1"}`+c.capabilities)
			session := r.header.Get("Mcp-Session-Id")
			id, call := f.made(session)
			call.say(`{"jsonrpc":"2.0","id":7,"method":` + c.question + `}`)
			if c.code == 0 {
				f.reaches(session, id, "input_required")
				return
			}
			want := fmt.Sprintf(`"id":7,"error":{"code":%d,`, c.code)
			f.eventually("an answer", func() bool { return len(f.tool.answers()) == 1 })
			if got := f.tool.answers(); !strings.Contains(got[0], want) {
				t.Errorf("answered %s, want %s", got, want)
			}
			if v := f.look(session, id); v.Status != "working" {
				t.Errorf("got %+v", v)
			}
			call.ends(`"result":` + done)
			f.reaches(session, id, "completed")
		})
	}
}

// Whether a subscription's ids are anybody's tasks does not show to a client that does not take tasks.
func TestUndeclaredSubscriptionTellsOfNoTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{principals: true, wrap: fromLoopback}, nil)
		f.answers(sayNothing)
		made := f.made(userHeader, "alice")
		for _, s := range f.servers {
			s.inject(onMethod("subscriptions/listen", say(eventsType, `data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{}}}`+"\n\n"+`data: {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`+"\n\n")))
		}
		for name, id := range map[string]string{"a task's": made, "nobody's": made[:len(made)-1] + "_", "another": "x"} {
			body := modernMessage("subscriptions/listen", `"notifications":{"taskIds":["`+id+`"]}`)
			body = strings.Replace(body, `"io.modelcontextprotocol/tasks":{}`, "", 1)
			f.do(f.request(t.Context(), http.MethodPost, body, append(modernHeader("subscriptions/listen", ""), userHeader, "mallory")...)).wantCode(t, name, -32021)
		}
	})
}

func (r reply) wantCode(t *testing.T, what string, code int) {
	t.Helper()
	if m := r.message(t); m.Error == nil || m.Error.Code != code {
		t.Errorf("%s: got %v, want %d", what, r, code)
	}
}
