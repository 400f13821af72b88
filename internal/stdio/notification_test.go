package stdio

import (
	"strings"
	"testing"
	"time"

	"berth/internal/exchange/exchangetest"
	"berth/internal/wire"
)

func TestUpdatesGoToThoseWhoSubscribed(t *testing.T) {
	r := newRig(t, "server", shared)
	a, b := r.open("a"), r.open("b")
	for _, c := range []*client{a, b} {
		exchangetest.ReadAll(t, c.post(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file:///x"}}`))
	}
	exchangetest.ReadAll(t, b.post(`{"jsonrpc":"2.0","id":1,"method":"resources/unsubscribe","params":{"uri":"file:///x"}}`))
	ofA, ofB := a.listen(""), b.listen("")
	b.call("touch", "file:///y")
	for _, standing := range []*events{ofA, ofB} {
		if m := standing.message(); !strings.Contains(m, "list_changed") {
			t.Errorf("got %s of what nobody subscribed to", m)
		}
	}
	a.call("touch", "file:///x/part")
	if m := ofA.message(); !strings.Contains(m, "resources/updated") {
		t.Errorf("a: got %s, want what it subscribed to", m)
	}
	for _, standing := range []*events{ofA, ofB} {
		if m := standing.message(); !strings.Contains(m, "list_changed") {
			t.Errorf("got %s, want the list's change", m)
		}
	}
}

// A session with a process of its caller's to itself hears what that says of resources, subscribed or not; one in a process of all callers what it
// subscribed to, for another's subscription may outlast its session.
func TestASessionHearsItsOwnProcess(t *testing.T) {
	for isolation, want := range map[Isolation]string{IsolateSession: "resources/updated", IsolatePrincipal: "resources/updated", IsolateAll: "list_changed"} {
		r := newRig(t, "server", func(o *Options, _ *timing) { o.Isolation = isolation })
		c := r.open("a")
		standing := c.listen("")
		c.call("touch", "file:///x")
		if m := standing.message(); !strings.Contains(m, want) {
			t.Errorf("%d: got %s, want %s", isolation, m, want)
		}
	}
}

// A subscription is the process's: ended for one session, it would end for all.
func TestSubscriptionEndsWithTheLastWhoHasIt(t *testing.T) {
	r := newRig(t, "server", shared)
	a, b := r.open("a"), r.open("b")
	subscribe := `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file:///x"}}`
	unsubscribe := strings.Replace(subscribe, "subscribe", "unsubscribe", 1)
	exchangetest.ReadAll(t, a.post(subscribe))
	exchangetest.ReadAll(t, b.post(subscribe))
	sent := func() int64 {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.sessions[a.session].peer.next
	}
	before := sent()
	if body := exchangetest.ReadAll(t, a.post(unsubscribe)); !strings.Contains(body, `"result":{}`) || sent() != before {
		t.Errorf("the first: got %s, %d sent", body, sent()-before)
	}
	if body := exchangetest.ReadAll(t, b.post(unsubscribe)); !strings.Contains(body, `"result":{}`) || sent() != before+1 {
		t.Errorf("the last: got %s, %d sent", body, sent()-before)
	}
}

func TestLogLinesStayWithTheCallThatCanHaveCausedThem(t *testing.T) {
	r := newRig(t, "server", shared)
	a, b := r.open("a"), r.open("b")
	answers := a.begin("1", "log", "mine")
	if m := answers.message(); !strings.Contains(m, "mine") {
		t.Errorf("got %s, want the line", m)
	}
	answers.text()
	a.begin("1", "hang", "").message()
	ofA := a.listen("")
	if m := b.begin("1", "log", "secret").message(); strings.Contains(m, "secret") {
		t.Errorf("got %s, want the line dropped", m)
	}
	b.call("touch", "")
	if m := ofA.message(); !strings.Contains(m, "list_changed") {
		t.Errorf("a heard %s", m)
	}
}

func TestWordOfNoKnownKindGoesWhereTheOneClientListens(t *testing.T) {
	for _, isolation := range []Isolation{IsolateSession, IsolateCall, IsolateAll} {
		r := newRig(t, "server", func(o *Options, _ *timing) { o.Isolation = isolation })
		c := r.open("")
		if m := c.begin("1", "complete", "").message(); !strings.Contains(m, "elicitation/complete") {
			t.Errorf("isolation %d: got %s on the call's stream", isolation, m)
		}
		if isolation == IsolateCall {
			continue // its process knows the call's client only
		}
		standing := c.listen("")
		c.call("complete", "")
		if m := standing.message(); !strings.Contains(m, "elicitation/complete") {
			t.Errorf("isolation %d: got %s on the standing stream", isolation, m)
		}
		if isolation != IsolateAll {
			continue
		}
		other := r.open("").listen("")
		c.call("complete", "")
		c.call("touch", "")
		if m := other.message(); !strings.Contains(m, "list_changed") {
			t.Errorf("another session heard %s", m)
		}
	}
}

func TestWhatNobodysCallCausedGoesToTheStandingStream(t *testing.T) {
	c := newRig(t, "talkative").open("")
	c.eventually("it has spoken", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		bytes, _, _, _, _ := c.sessions[c.session].standing.state()
		return bytes > 0
	})
	standing := c.listen("g-0")
	if m := standing.message(); !strings.Contains(m, "custom") {
		t.Errorf("got %s, want what follows the event named", m)
	}
}

// The token of a request that became a task is the task's for its life (2025-11-25, tasks,
// "Progress").
func TestWhatIsSaidOfATaskGoesToWhoMadeIt(t *testing.T) {
	r := newRig(t, "server", shared)
	a, b := r.open("a"), r.open("b")
	ofA, ofB := a.listen(""), b.listen("")
	for _, c := range []*client{a, b} {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"task","task":{},"_meta":{"progressToken":"of ` + c.caller + `"},"arguments":{"text":"` + c.caller + `"}}}`
		c.stream(c.post(body)).text()
	}
	for caller, standing := range map[string]*events{"a": ofA, "b": ofB} {
		if m := standing.message(); !strings.Contains(m, `"progressToken":"of `+caller+`"`) {
			t.Errorf("%s: got %s, want its progress", caller, m)
		}
		if m := standing.message(); !strings.Contains(m, `"taskId":"t-`+caller+`"`) {
			t.Errorf("%s: got %s, want its status", caller, m)
		}
	}
}

// A task lives in its process: who waits for calls there waits for it too, until its client has the outcome.
func TestATaskIsTiedUntilItsClientHasTheOutcome(t *testing.T) {
	ask := func(c *client, method, id string) *wire.Response {
		return c.post(`{"jsonrpc":"2.0","id":5,"method":"` + method + `","params":{"taskId":"` + id + `"}}`)
	}
	outcome := func(c *client, id string) {
		waiting := c.stream(ask(c, "tasks/result", id))
		c.tell(`{"jsonrpc":"2.0","id":` + idOf(c.t, waiting.message()) + `,"result":{}}`)
		waiting.text()
	}
	for name, ends := range map[string]func(c *client, id string){
		"its result":  outcome,
		"its cancel":  func(c *client, id string) { ask(c, "tasks/cancel", id) },
		"its denial":  func(c *client, id string) { ask(c, "tasks/get", id) },
		"its session": func(c *client, id string) { c.reach(c.request(wire.MethodDelete, c.session, c.caller, "")) },
	} {
		r := newRig(t, "server", shared)
		c, id := r.open("a"), "gone"
		r.open("b")
		c.stream(c.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"task","task":{},"_meta":{"progressToken":1},"arguments":{"text":"` + id + `"}}}`)).text()
		if n := r.Tied(); n != 1 || r.InFlight() != 0 {
			t.Errorf("%s: %d tied, %d in flight", name, n, r.InFlight())
		}
		if ends(c, "t-"+id); r.Tied() != 0 {
			t.Errorf("%s: %d tied in the end", name, r.Tied())
		}
	}
}

// Nobody waits for a task that its client does not ask for.
func TestATaskIsTiedWhileItIsAskedFor(t *testing.T) {
	r := newRig(t, "server", func(_ *Options, t *timing) { t.awaited = 0 })
	c := r.open("a")
	c.stream(c.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"task","task":{},"_meta":{"progressToken":1},"arguments":{"text":"1"}}}`)).text()
	if n := r.Tied(); n != 0 {
		t.Errorf("not asked for: %d", n)
	}
	r.mu.Lock()
	r.timing.awaited = time.Hour
	r.mu.Unlock()
	c.post(`{"jsonrpc":"2.0","id":5,"method":"tasks/get","params":{"taskId":"t-1"}}`)
	if n := r.Tied(); n != 1 {
		t.Errorf("asked for: %d", n)
	}
}
