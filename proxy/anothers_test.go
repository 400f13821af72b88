package proxy_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// A response to another request is given to nobody where berth knows whose it is: what a server says behind one
// answer would else be the next caller's.
func TestAnotherRequestsAnswerIsGivenToNobody(t *testing.T) {
	f := newRig(t, rigOptions{tcp: true, size: 1})
	id := f.newTask(60)
	for what, c := range map[string]struct {
		answer string
		passes bool
	}{
		"its own":          {`{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","secret":1}}`, true},
		"its own, a float": {`{"jsonrpc":"2.0","id":ID.0,"result":{"resultType":"complete","secret":1}}`, true},
		"another's":        {`{"jsonrpc":"2.0","id":"another","result":{"resultType":"complete","secret":1}}`, false},
		"another's error":  {`{"jsonrpc":"2.0","id":99,"error":{"code":-32099,"message":"secret"}}`, false},
		"another's task":   {`{"jsonrpc":"2.0","id":99,"result":{"resultType":"task","taskId":"secret","status":"working","ttlMs":null}}`, false},
		"its own, a text":  {`{"jsonrpc":"2.0","id":"ID","result":{"resultType":"complete","secret":1}}`, true},
		"another, a text":  {`{"jsonrpc":"2.0","id":"99","result":{"resultType":"complete","secret":1}}`, false},
		"no one's error":   {`{"jsonrpc":"2.0","id":null,"error":{"code":-32099,"message":"secret"}}`, true},
		"without an id":    {`{"jsonrpc":"2.0","result":{"resultType":"complete","secret":1}}`, true},
	} {
		for method, send := range map[string]func() reply{
			"tasks/get":  func() reply { return f.modern("tasks/get", id, byID(id)) },
			"tools/call": func() reply { return f.modern("tools/call", "echo", `"name":"echo","arguments":{}`) },
		} {
			f.servers[0].inject(onMethod(method, func(w http.ResponseWriter, r *http.Request, body []byte) bool {
				return say(jsonType, withID(c.answer, body))(w, r, body)
			}))
			r := send()
			if passed := strings.Contains(r.body, "secret"); passed != c.passes {
				t.Errorf("%s, answered by %s: got %d %s", method, what, r.status, r.body)
			}
			if !c.passes {
				r.fails(t, http.StatusBadGateway, -32603, "bad_upstream_response", false)
			}
			f.servers[0].inject(nil)
		}
	}
}

// On a stream it is passed over: its reader may have asked something else under that id. What it says is of nobody's task.
func TestAnotherRequestsAnswerOnAStreamIsGivenToNobody(t *testing.T) {
	f := newRig(t, rigOptions{tcp: true, size: 1})
	id, session := f.newTask(60), f.initialize()
	long := `{"jsonrpc":"2.0","id":99,"result":{"resultType":"complete","secret":"` + strings.Repeat("x", 300<<10) + `"}}`
	for what, c := range map[string]struct {
		answer string
		passes bool
	}{
		"another's":                 {`{"jsonrpc":"2.0","id":99,"result":{"resultType":"complete","secret":1}}`, false},
		"another's error":           {`{"jsonrpc":"2.0","id":"another","error":{"code":-32099,"message":"secret"}}`, false},
		"another's task":            {`{"jsonrpc":"2.0","id":99,"result":{"resultType":"task","taskId":"secret","status":"working","ttlMs":null}}`, false},
		"another's long one":        {long, false},
		"no one's error":            {`{"jsonrpc":"2.0","id":null,"error":{"code":-32099,"message":"secret"}}`, true},
		"a request":                 {`{"jsonrpc":"2.0","id":99,"method":"ping","params":{"secret":1}}`, true},
		"what is said meanwhile":    {`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"secret"}}`, true},
		"what is said and then cut": {`{"jsonrpc":"2.0","method":"notifications/message","params":{"secret":1,"data":"` + strings.Repeat("x", 300<<10) + `"}}`, true},
	} {
		for name, send := range map[string]func() reply{
			"a poll":           func() reply { return f.poll(id) },
			"a call":           func() reply { return f.modern("tools/call", "echo", `"name":"echo","arguments":{}`) },
			"a legacy call":    func() reply { return f.legacy("", "tools/call", `"name":"echo","arguments":{}`) },
			"one in a session": func() reply { return f.legacy(session, "tools/call", `"name":"echo","arguments":{}`) },
		} {
			f.servers[0].inject(sayEvents(c.answer, resultUnder("ID")))
			r := send()
			f.servers[0].inject(nil)
			if passes := c.passes || name == "one in a session"; strings.Contains(r.body, "secret") != passes || strings.Contains(r.body, "xxx") && !passes {
				t.Errorf("%s, told %s: got %.300q", name, what, r.body)
			}
			if m := r.message(t); m.Result == nil || !strings.Contains(r.body, `"done"`) {
				t.Errorf("%s, told %s: its own answer is missing in %.300q", name, what, r.body)
			}
			if name == "one in a session" {
				f.bindings.Unbind(t.Context(), f.router.TaskKey("", "secret"))
			} else if owner := f.owner("secret"); owner != "" {
				t.Errorf("%s, told %s: the other's task is bound to %q", name, what, owner)
			}
		}
	}
}

// So it is of the stream that answers a batch, whose requests all have theirs.
func TestAnotherRequestsAnswerOnABatchsStreamIsGivenToNobody(t *testing.T) {
	f := newRig(t, rigOptions{tcp: true, size: 1})
	session := f.open(f.request(t.Context(), http.MethodPost, message("initialize", `"protocolVersion":"2025-03-26"`))).Header.Get("Mcp-Session-Id")
	for said, passes := range map[string]bool{
		`{"jsonrpc":"2.0","id":99,"result":{"secret":1}}`:                                      false,
		`{"jsonrpc":"2.0","id":"another","error":{"code":-32099,"message":"secret"}}`:          false,
		`{"jsonrpc":"2.0","id":99,"result":{"secret":"` + strings.Repeat("x", 300<<10) + `"}}`: false,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32099,"message":"secret"}}`:               true,
		`{"jsonrpc":"2.0","id":99,"method":"ping","params":{"secret":1}}`:                      true,
	} {
		for what, batch := range map[string]string{"two": aBatch, "one": `[{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}]`, "a notification": `[{"jsonrpc":"2.0","method":"notifications/x"}]`} {
			for _, in := range []string{"", session} {
				own := `{"jsonrpc":"2.0","id":7,"result":{"own":7}}`
				f.servers[0].inject(sayEvents(own, said, `{"jsonrpc":"2.0","id":8,"result":{"own":8}}`))
				header := []string{"MCP-Protocol-Version", "2025-03-26", "Mcp-Session-Id", in}
				r := f.do(f.request(t.Context(), http.MethodPost, batch, header[:2+2*min(len(in), 1)]...))
				f.servers[0].inject(nil)
				if want := passes || in != "" || what == "a notification"; strings.Contains(r.body, "secret") != want || !strings.Contains(r.body, `"own":7`) || what == "two" && !strings.Contains(r.body, `"own":8`) {
					t.Errorf("%s, in session %q, told %.80q: got %.300q", what, in, said, r.body)
				}
			}
		}
	}
}

// Of several messages in one event (2025-03-26) another request's response is taken out.
func TestAnotherRequestsAnswerAmongOthersInAnEventIsGivenToNobody(t *testing.T) {
	f := newRig(t, rigOptions{tcp: true, size: 1})
	const theirs, log = `{"jsonrpc":"2.0","id":99,"result":{"secret":1}}`, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"log"}}`
	own := resultUnder("ID")
	for _, said := range [][]string{{"[" + theirs + "]", own}, {"[" + theirs + " , " + log + ", " + own + "]"}, {"[" + own + "," + theirs + "]"}} {
		f.servers[0].inject(sayEvents(said...))
		r := f.legacy("", "tools/call", `"name":"echo","arguments":{}`)
		f.servers[0].inject(nil)
		events := eventsIn(r.body)
		if len(events) != 1 || strings.Contains(r.body, "secret") || !strings.Contains(r.body, `"done"`) || strings.Contains(said[0], "log") != strings.Contains(r.body, "log") || !json.Valid([]byte(events[0])) {
			t.Errorf("told %s: got %s", said, r.body)
		}
	}
}

// Some servers answer 1 with "1", which clients take: it is the response that a stream owes.
func TestAnAnswerWhoseIDIsATextIsTheOneOwed(t *testing.T) {
	f := newRig(t, rigOptions{tcp: true, size: 1})
	for what, send := range map[string]func() reply{
		"a call":        func() reply { return f.modern("tools/call", "echo", `"name":"echo","arguments":{}`) },
		"a legacy call": func() reply { return f.legacy("", "tools/call", `"name":"echo","arguments":{}`) },
	} {
		f.servers[0].inject(sayEvents(resultUnder(`"ID"`)))
		r := send()
		if events := eventsIn(r.body); len(events) != 1 || !strings.Contains(r.body, `"done"`) {
			t.Errorf("%s: got %s", what, r.body)
		}
	}
}

// The result of another request is not what came of a task, in whichever session it is asked for: neither is it told for that once the
// task's server is gone, nor has the task ended by it.
func TestAnotherRequestsAnswerIsNoOutcome(t *testing.T) {
	for said, inSession := range map[string]bool{crossed: false, crossed + " ": true, "[" + crossed + "]": true} {
		synctest.Test(t, func(t *testing.T) {
			f := newRig(t, rigOptions{size: 1})
			session := ""
			if inSession {
				session = f.initialize()
			}
			core := f.newCoreTask(session, 3600)
			f.servers[0].inject(onMethod("tasks/result", sayEvents(said)))
			f.legacy(session, "tasks/result", byID(core))
			synctest.Wait()
			if owned, err := f.bindings.Owned(t.Context(), "p", "a"); err != nil || owned.Tasks != 1 {
				t.Errorf("got %+v, %v, want a task that runs", owned, err)
			}
			f.servers[0].kill()
			if r := f.legacy(session, "tasks/result", byID(core)); strings.Contains(r.body, "another caller's") {
				t.Errorf("got %d %s", r.status, r.body)
			}
		})
	}
}
