package bridge

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// sessionless has an upstream keep no sessions, and answer calls itself, until it demands them.
func sessionless(u *upstream, demands func(method string) bool, refuse func(w http.ResponseWriter, m message)) {
	u.faults = func(w http.ResponseWriter, q *http.Request, m message) bool {
		switch {
		case m.Method == "server/discover":
			return false
		case demands(m.Method) && (q.Header.Get("Mcp-Session-Id") != "" || m.Method == "initialize"):
			return false
		case demands(m.Method):
			refuse(w, m)
		case m.Method == "initialize":
			respond(w, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}}`, m.ID))
		case m.ID == nil:
			w.WriteHeader(202)
		case q.Method != http.MethodPost:
			w.WriteHeader(405)
		default:
			respond(w, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"tools":[]}}`, m.ID))
		}
		return true
	}
}

// A server that kept no sessions may be replaced by one that demands them: the call that it refuses is made in one, and so is all else.
func TestAServerBeginsToDemandSessions(t *testing.T) {
	for _, status := range []int{400, 404} {
		var demands atomic.Bool
		u := tool(kind{}, func(*running) {})
		sessionless(u, func(string) bool { return demands.Load() }, func(w http.ResponseWriter, _ message) {
			respond(w, status, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No valid session ID provided"}}`)
		})
		bridged(t, u, nil, func(r *rig) {
			if g := r.do(asking{name: "asks"}); g.status != 200 || g.Result.Type != "complete" {
				t.Fatalf("without sessions got %d %s", g.status, g.text)
			}
			demands.Store(true)
			for _, a := range []asking{{name: "asks"}, {method: "tools/list"}} {
				if g := r.do(a); g.status != 200 || g.Result.Type != "complete" {
					t.Errorf("%s: got %d %s", a.method, g.status, g.text)
				}
			}
			if n := r.b.has().sessions; n != 1 {
				t.Errorf("%d sessions are open", n)
			}
			if calls := r.sent("tools/call"); len(calls) != 3 || calls[1].session != "" || calls[2].session == "" {
				t.Errorf("called %d times", len(calls))
			}
		})
	}
}

// A server without sessions that refuses a call, and knows no ping, demands none: the call is made once, and its refusal is what the client gets.
func TestAServerWithoutSessionsRefusesACall(t *testing.T) {
	for _, status := range []int{400, 404} {
		u := tool(kind{}, func(*running) {})
		sessionless(u, func(method string) bool { return method == "tools/call" || method == "ping" }, func(w http.ResponseWriter, m message) {
			respond(w, status, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"not today"}}`, m.ID))
		})
		bridged(t, u, nil, func(r *rig) {
			for n := 1; n <= 2; n++ {
				if g := r.do(asking{name: "asks"}); g.status != status || !strings.Contains(g.text, "not today") || len(r.sent("tools/call")) != n {
					t.Errorf("call %d: got %d %s, sent %d times", n, g.status, g.text, len(r.sent("tools/call")))
				}
			}
		})
	}
}
