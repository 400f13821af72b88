package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/routing"
)

// refusedBy answers each request of one era, as servers of the other do, and counts them.
func refusedBy(modern bool, count *atomic.Int64, refuse faultFunc) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if (r.Header.Get("MCP-Protocol-Version") == "2026-07-28") != modern || r.Header.Get("Mcp-Session-Id") != "" {
			return false
		}
		count.Add(1)
		return refuse(w, r, body)
	}
}

// How legacy servers refuse modern calls.
var legacyRefusals = map[string]faultFunc{
	"TypeScript, sessions":  sayStatus(400, jsonType, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`),
	"TypeScript, version":   sayStatus(400, jsonType, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Unsupported protocol version (supported versions: 2025-11-25)"},"id":null}`),
	"Python":                sayStatus(400, jsonType, `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request: Missing session ID"}}`),
	"Go":                    sayStatus(400, "text/plain; charset=utf-8", "Bad Request: Unsupported protocol version (supported versions: 2025-11-25)\n"),
	"dual-era, legacy only": sayStatus(400, jsonType, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2025-11-25"]}}}`),
	"Go, sessions":          listsLegacy,
}

// listsLegacy knows server/discover, and names no version there by which it serves modern calls.
func listsLegacy(w http.ResponseWriter, r *http.Request, body []byte) bool {
	var m struct{ ID json.RawMessage }
	_ = json.Unmarshal(body, &m) // what is no message is refused
	if methodIn(body) == "server/discover" {
		return say(jsonType, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"resultType":"complete","supportedVersions":["2025-11-25","2025-06-18"],"capabilities":{"tools":{}}}}`)(w, r, body)
	}
	return sayStatus(400, jsonType, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"error":{"code":-32022,"message":"x","data":{"supported":["2025-11-25","2025-06-18"]}}}`)(w, r, body)
}

// modernRefusal is what the TypeScript SDK says to legacy calls where it serves the modern era
// only.
var modernRefusal = sayStatus(400, jsonType, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version: the request did not name a protocol version","data":{"supported":["2026-07-28"]}}}`)

// modernRight reports whether a modern client is served whole.
func (f *rig) modernRight() bool {
	discovered := f.modern("server/discover", "", "")
	return discovered.status == http.StatusOK && strings.Contains(discovered.body, `"2026-07-28"`) && f.greet("x").status == http.StatusOK &&
		f.modern("tools/list", "", "").status == http.StatusOK
}

// legacyRight reports whether a legacy client is served whole, in a session.
func (f *rig) legacyRight() bool {
	r := f.legacy("", "initialize", `"protocolVersion":"2025-11-25"`)
	id := r.header.Get("Mcp-Session-Id")
	return id != "" && f.legacy(id, "tools/call", `"name":"greet","arguments":{"name":"x"}`).status == http.StatusOK
}

// A fleet in the middle of an upgrade: of 30 modern clients 8 to 23 were served, since a third
// or more of their calls went to instances of the other era.
func TestPoolOfBothErasServesClientsOfBoth(t *testing.T) {
	for name, refuse := range legacyRefusals {
		for _, legacy := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s, %d legacy", name, legacy), func(t *testing.T) {
				f := newRig(t, rigOptions{picker: new(routing.RoundRobin)})
				var toLegacy, toModern atomic.Int64
				for i, s := range f.servers {
					if i < legacy {
						s.inject(refusedBy(true, &toLegacy, refuse))
					} else {
						s.inject(refusedBy(false, &toModern, modernRefusal))
					}
				}
				right := 0
				for range 30 {
					if f.modernRight() {
						right++
					}
					if f.legacyRight() {
						right++
					}
				}
				if right != 60 {
					t.Errorf("%d of 60 clients served", right)
				}
				if got := toLegacy.Load() + toModern.Load(); got > 3 {
					t.Errorf("%d calls went to an instance of the other era, want one for each to be learned", got)
				}
				if got := f.calls("tools/call"); got > 60+int(toLegacy.Load()) {
					t.Errorf("got %d calls of tools, want 60 beside those that were refused: each once", got)
				}
			})
		}
	}
}

// Where nobody speaks the era the upstream's own words reach the client, which falls back on
// them; and after the first time the others are not asked.
func TestRefusalOfAWholePoolPassesAsItCame(t *testing.T) {
	const said = `{"jsonrpc":"2.0", "error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`
	f := newRig(t, rigOptions{picker: new(routing.RoundRobin)})
	var asked atomic.Int64
	for _, s := range f.servers {
		s.inject(refusedBy(true, &asked, sayStatus(400, jsonType, said)))
	}
	for range 10 {
		if r := f.modern("server/discover", "", ""); r.status != 400 || r.body != said {
			t.Fatalf("got %d %s, want the upstream's 400", r.status, r.body)
		}
	}
	if got := asked.Load(); got != 12 {
		t.Errorf("got %d requests for 10 calls, want 3 for the first one and one for each other", got)
	}
	if !f.legacyRight() {
		t.Error("a legacy client is not served")
	}
}

// What is no refusal by era is the client's: a tool that failed was executed.
func TestRefusalsThatAreNotByEra(t *testing.T) {
	const call = "tools/call"
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"a server's own error to the call":   {400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no valid session at the bank"}}`},
		"a version, of a server of this era": {400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"x","data":{"supported":["2026-07-28"]}}}`},
		"a header mismatch":                  {400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"x"}}`},
		"a capability":                       {400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"x"}}`},
		"an unknown method":                  {404, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"x"}}`},
		"no leave":                           {403, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}`},
		"an error in the result":             {200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no session"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newRig(t, rigOptions{})
			f.servers[0].inject(sayStatus(c.status, jsonType, c.body))
			for range 3 {
				if r := f.greet("x"); r.status != c.status || r.body != c.body {
					t.Fatalf("got %d %s, want %d %s", r.status, r.body, c.status, c.body)
				}
			}
			if got := f.calls(call); got != 3 || f.servers[0].Calls(call) != 3 {
				t.Errorf("got %d calls, want 3 at a", got)
			}
		})
	}
}

// A legacy server without sessions answers what it takes for any other method, on a stream.
func TestDiscoverThatIsNoMethodIsARefusal(t *testing.T) {
	f := newRig(t, rigOptions{size: 2})
	f.servers[0].inject(onMethod("server/discover", say(eventsType, "event: message\ndata: "+`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`+"\n\n")))
	if m := f.modern("server/discover", "", "").message(t); m.Result == nil {
		t.Errorf("got %+v, want b's answer", m)
	}
	if f.greet("x"); f.servers[1].Calls("tools/call") != 1 {
		t.Error("the next call did not go to b")
	}
}

// What an upstream does not speak is forgotten: it may have been upgraded.
func TestUpgradedInstanceIsFoundAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{size: 2})
		var refused atomic.Int64
		f.servers[0].inject(refusedBy(true, &refused, legacyRefusals["TypeScript, sessions"]))
		for range 5 {
			f.greet("x")
		}
		if got := refused.Load(); got != 1 {
			t.Fatalf("got %d calls at the legacy instance, want 1", got)
		}
		f.servers[0].inject(nil)
		time.Sleep(time.Minute)
		before := f.servers[0].Calls("tools/call")
		if f.greet("x"); f.servers[0].Calls("tools/call") != before+1 {
			t.Error("it gets no call a minute after it was upgraded")
		}
	})
}

// Nobody is taken for an instance of the other era because of what a client sent.
func TestRefusalByAllMarksNobody(t *testing.T) {
	f := newRig(t, rigOptions{})
	for _, s := range f.servers {
		s.inject(onMethod("server/discover", legacyRefusals["TypeScript, sessions"]))
	}
	f.modern("server/discover", "", "")
	if f.greet("x"); f.servers[0].Calls("tools/call") != 1 {
		t.Error("the picker's choice changed")
	}
}

// With nobody else to take it, what a refusal says is better than that nobody answers.
func TestRefusalIsToldWhereOthersAreDown(t *testing.T) {
	f := newRig(t, rigOptions{size: 2})
	f.servers[0].inject(legacyRefusals["TypeScript, sessions"])
	f.servers[1].kill()
	if r := f.modern("server/discover", "", ""); r.status != 400 || !strings.Contains(r.body, "-32000") {
		t.Errorf("got %d %s, want a's refusal", r.status, r.body)
	}
}

// A subscription goes where its era is spoken, too.
func TestSubscriptionGoesWhereItsEraIsSpoken(t *testing.T) {
	f := newRig(t, rigOptions{size: 2})
	f.servers[0].inject(legacyRefusals["TypeScript, sessions"])
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := f.open(f.modernRequest(ctx, "subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`))
	defer r.Body.Close()
	first := make([]byte, 64)
	if n, err := io.ReadAtLeast(r.Body, first, 16); r.StatusCode != 200 || err != nil {
		t.Errorf("got %d %q, %v, want a stream", r.StatusCode, first[:n], err)
	}
}

// A held call that an instance of the other era refused is sent to one that is known to speak
// its own.
func TestHeldCallGoesWhereItsEraIsSpoken(t *testing.T) {
	f := newUpgraded(t, rigOptions{size: 2}, nil)
	f.pool.Speaks(f.pool.Find("b"), mcp.EraModern, nil)
	f.servers[0].inject(legacyRefusals["TypeScript, sessions"])
	f.servers[1].inject(onMethod("tools/call", sayResult(done)))
	if v := f.reaches(f.made(), "completed"); v.Error != nil || f.servers[1].Calls("tools/call") != 1 {
		t.Errorf("got %+v, %d calls at b", v, f.servers[1].Calls("tools/call"))
	}
}

// A session that has lost its instance moves to one that speaks its era.
func TestSessionMovesToWhoSpeaksItsEra(t *testing.T) {
	f := newRig(t, reinit(rigOptions{probe: true}))
	session := f.initialize()
	f.furnish(session)
	var refused atomic.Int64
	f.servers[1].inject(refusedBy(false, &refused, modernRefusal))
	f.servers[0].kill()
	if got := f.who(session); got != "c" || refused.Load() == 0 {
		t.Errorf("answered by %q, after %d refusals of b", got, refused.Load())
	}
}

// What an upstream says of itself passes, and is kept where a later call can be decided by it.
func TestWhatAnUpstreamSaysOfItselfIsKept(t *testing.T) {
	f := newRig(t, rigOptions{picker: new(routing.RoundRobin)})
	for range f.servers {
		f.modernRight()
		f.legacyRight()
	}
	for _, u := range f.pool.Upstreams() {
		said := u.Profile()
		legacy, modern := said.Versions[mcp.EraLegacy], said.Versions[mcp.EraModern]
		if len(legacy) != 1 || legacy[0] != "2025-11-25" || len(modern) != 1 || modern[0] != "2026-07-28" {
			t.Errorf("%s: got versions %v and %v", u.Name, legacy, modern)
		}
	}
}
