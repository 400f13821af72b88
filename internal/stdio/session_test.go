package stdio

import (
	"strings"
	"testing"
	"time"

	"berth/internal/exchange/exchangetest"
	"berth/internal/mcp"
	"berth/internal/wire"
)

func TestSessionCallsToolsOfItsProcess(t *testing.T) {
	c := newRig(t, "server").open("")
	if got := c.call("echo", "hello"); got != "hello" {
		t.Errorf("got %q, want the echo", got)
	}
	response := c.post(`{"jsonrpc":"2.0","id":"a","method":"tools/list"}`)
	if body := exchangetest.ReadAll(t, response); response.Status != 200 || !strings.Contains(body, `"id":"a"`) || !strings.Contains(body, `"echo"`) {
		t.Errorf("tools/list: got %d %s", response.Status, body)
	}
}

func TestStreamBeginsWithAnEventWithoutData(t *testing.T) {
	c := newRig(t, "server").open("")
	event, err := c.begin("1", "echo", "").reader.Next()
	if err != nil || string(event.Raw) != "id: r1-0\ndata: \n\n" {
		t.Errorf("got %q, %v", event.Raw, err)
	}
}

func TestEachSessionHasAProcess(t *testing.T) {
	r := newRig(t, "server")
	if a, b := r.open("a").call("pid", ""), r.open("a").call("pid", ""); a == b {
		t.Errorf("both in process %s", a)
	}
}

func TestIsolationSaysWhoSharesAProcess(t *testing.T) {
	for name, tc := range map[string]struct {
		isolation Isolation
		callers   [2]string
		shared    bool
	}{
		"all":                        {IsolateAll, [2]string{"a", "b"}, true},
		"a principal":                {IsolatePrincipal, [2]string{"a", "a"}, true},
		"two principals":             {IsolatePrincipal, [2]string{"a", "b"}, false},
		"nobody known, by principal": {IsolatePrincipal, [2]string{"", ""}, false},
		"sessions":                   {IsolateSession, [2]string{"a", "a"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "server", func(o *Options, _ *timing) { o.Isolation = tc.isolation })
			a, b := r.open(tc.callers[0]).call("pid", ""), r.open(tc.callers[1]).call("pid", "")
			if (a == b) != tc.shared {
				t.Errorf("got processes %s and %s, want shared %v", a, b, tc.shared)
			}
		})
	}
}

// A process is told one version and one set of capabilities, and answers by them: who says something else is told, and asked, by another one.
func TestProcessIsSharedByThoseWhoSayTheSame(t *testing.T) {
	for _, isolation := range []Isolation{IsolatePrincipal, IsolateAll} {
		r := newRig(t, "server", func(o *Options, _ *timing) { o.Isolation = isolation })
		r.open("a")
		for _, other := range []string{
			strings.Replace(opening, "2025-11-25", "2025-06-18", 1),
			strings.Replace(opening, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1),
			opening,
			strings.Replace(opening, `"name":"c"`, `"name":"another"`, 1),
		} {
			r.reach(r.request(wire.MethodPost, "", "a", other))
		}
		if n := r.processes(); n != 3 {
			t.Errorf("%v: got %d processes, want 3", isolation, n)
		}
	}
}

func TestEachCallHasAProcess(t *testing.T) {
	r := newRig(t, "server", func(o *Options, _ *timing) { o.Isolation = IsolateCall })
	c := r.open("a")
	if a, b := c.call("pid", ""), c.call("pid", ""); a == b {
		t.Errorf("both calls in process %s", a)
	}
	r.eventually("only the session's process is left", func() bool { return r.processes() == 1 })
	asking := c.begin("1", "ask", "")
	question := asking.message()
	c.tell(`{"jsonrpc":"2.0","id":` + idOf(t, question) + `,"result":{"action":"decline"}}`)
	if got := asking.text(); got != `1: {"action":"decline"}` {
		t.Errorf("got %q", got)
	}
	if got := c.call("die", ""); !strings.Contains(got, "out of luck") {
		t.Errorf("got %q, want the end of stderr", got)
	}
	if got := c.call("echo", "still here"); got != "still here" {
		t.Errorf("after a call's process died: got %q", got)
	}
}

func isolateCalls(o *Options, _ *timing) { o.Isolation = IsolateCall }

func TestCallWhoseProcessDoesNotStartFails(t *testing.T) {
	r := newRig(t, "server", isolateCalls)
	c := r.open("")
	r.mu.Lock()
	r.options.Command = []string{"/no/such/program"}
	r.mu.Unlock()
	if got := c.call("echo", ""); !strings.Contains(got, "no such file") {
		t.Errorf("got %q", got)
	}
	r.mu.Lock()
	r.options.MaxProcesses = 1
	r.mu.Unlock()
	response := c.post(tool("1", "echo", ""))
	if _, reason, _ := failure(t, exchangetest.ReadAll(t, response)); response.Status != 503 || reason != ReasonTooManyProcesses {
		t.Errorf("with no room: got %d %s", response.Status, reason)
	}
	if got := len(r.sessions[c.session].streams); got != 1 {
		t.Errorf("got %d streams, want that of the first call", got)
	}
}

func TestCallIsToldAtOnceThatItsProcessIsLate(t *testing.T) {
	r := newRig(t, "server", isolateCalls)
	c := r.open("")
	r.mu.Lock()
	r.options.Env[modeVariable], r.options.StartTimeout = "silent", 50*time.Millisecond
	r.mu.Unlock()
	if got := c.call("echo", ""); !strings.HasPrefix(got, "error: the process did not answer initialize within 50ms") {
		t.Errorf("got %q", got)
	}
	if got := r.processes(); got != 2 {
		t.Errorf("got %d processes, want the late one still to be ending", got)
	}
}

func TestCallsProcessLogsAsItsSessionWished(t *testing.T) {
	c := newRig(t, "server", isolateCalls).open("")
	exchangetest.ReadAll(t, c.post(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`))
	if got := c.call("level", ""); got != "debug" {
		t.Errorf("got %q", got)
	}
}

func TestCallIsCancelledWhileItsProcessStarts(t *testing.T) {
	r := newRig(t, "slow", isolateCalls)
	c := r.open("")
	asking := c.begin("1", "ask", "")
	c.tell(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got := asking.text(); got != "error: the client cancelled the call" {
		t.Errorf("got %q", got)
	}
	r.eventually("only the session's process is left", func() bool { return r.processes() == 1 })
}

func TestSessionTakesItsCallsProcessesAlong(t *testing.T) {
	r := newRig(t, "server", isolateCalls)
	c := r.open("")
	asking := c.begin("1", "ask", "")
	asking.message()
	r.reach(r.request(wire.MethodDelete, c.session, "", ""))
	if got := asking.text(); !strings.Contains(got, "ended its session") {
		t.Errorf("got %q", got)
	}
	r.eventually("no process is left", func() bool { return r.processes() == 0 })
}

func TestSessionThatEndsAnswersItsQuestions(t *testing.T) {
	r := newRig(t, "server", shared)
	a, b := r.open("a"), r.open("b")
	asking := a.begin("1", "ask", "")
	asking.message()
	r.reach(r.request(wire.MethodDelete, a.session, "a", ""))
	if got := b.call("refusals", ""); got != "1" {
		t.Errorf("the process heard of %s refusals, want 1", got)
	}
	if got := b.call("heard", ""); !strings.Contains(got, "notifications/cancelled") {
		t.Errorf("the process heard %q, want the call cancelled", got)
	}
}

func TestRequestsOutsideASessionAreRefused(t *testing.T) {
	r := newRig(t, "server")
	c := r.open("a")
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	modern := r.request(wire.MethodPost, "", "", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
	modern.Header.Set(mcp.HeaderVersion, "2026-07-28")
	inSession := r.request(wire.MethodPost, c.session, "a", ping)
	inSession.Header.Set(mcp.HeaderVersion, "2026-07-28")
	for name, tc := range map[string]struct {
		response *wire.Response
		status   int
		part     string
	}{
		"no session":            {r.reach(r.request(wire.MethodPost, "", "", ping)), 400, `"code":-32000`},
		"an unknown session":    {r.reach(r.request(wire.MethodPost, "x", "", ping)), 404, `"code":-32001`},
		"another's session":     {r.reach(r.request(wire.MethodPost, c.session, "b", ping)), 404, `"code":-32001`},
		"modern":                {r.reach(modern), 400, "Unsupported protocol version"},
		"modern, in session":    {r.reach(inSession), 400, "Unsupported protocol version"},
		"discover, in words":    {c.post(`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`), 400, "Unsupported protocol version"},
		"initialised already":   {c.post(opening), 400, "already initialized"},
		"initialize, twice":     {c.post("[" + opening + "]"), 400, ""},
		"initialize, no id":     {r.reach(r.request(wire.MethodPost, "", "", `{"jsonrpc":"2.0","method":"initialize"}`)), 400, "needs an id"},
		"initialize, elsewhere": {r.reach(r.request(wire.MethodPost, "x", "", opening)), 404, `"code":-32001`},
		"no JSON":               {c.post(`{`), 400, `"code":-32700`},
		"another method":        {r.reach(r.request("PUT", "", "", "")), 405, ""},
		"no such event":         {c.get("r9-1"), 400, `"code":-32000`},
		"no event id":           {c.get("x"), 400, `"code":-32000`},
	} {
		body := exchangetest.ReadAll(t, tc.response)
		if tc.response.Status != tc.status || !strings.Contains(body, tc.part) {
			t.Errorf("%s: got %d %s, want %d with %s", name, tc.response.Status, body, tc.status, tc.part)
		}
		if strings.Contains(body, `"id"`) && !strings.HasPrefix(name, "initiali") {
			t.Errorf("%s: got %s, want it without an id", name, body)
		}
	}
	if got := c.call("echo", "well"); got != "well" {
		t.Errorf("the strict server heard of one of these: got %q", got)
	}
}

func TestDeleteEndsSessionAndProcess(t *testing.T) {
	r := newRig(t, "server")
	c := r.open("")
	hanging := c.begin("1", "hang", "")
	hanging.message()
	if response := r.reach(r.request(wire.MethodDelete, c.session, "", "")); response.Status != 200 {
		t.Errorf("DELETE: got %d", response.Status)
	}
	if got := hanging.text(); !strings.Contains(got, "ended its session") {
		t.Errorf("the call: got %q", got)
	}
	if response := c.post(tool("1", "echo", "")); response.Status != 404 {
		t.Errorf("after DELETE: got %d", response.Status)
	}
	r.eventually("the process is gone", func() bool { return r.processes() == 0 })
}
