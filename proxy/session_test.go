package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"berth/internal/mcptest"
)

// TestEverythingInASessionFollowsIt: calls, notifications, a client's own answers,
// streams and the end go to the one instance that knows it.
func TestEverythingInASessionFollowsIt(t *testing.T) {
	b := start(t, setup{server: func(s *mcptest.Server) { s.SessionOptional = false }})
	session := b.open("2025-11-25")
	home := b.owner("initialize")
	for name, body := range map[string]string{
		"a call":                 message("tools/call", `"name":"who"`),
		"a notification":         `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		"a bare answer":          `{"jsonrpc":"2.0","id":0,"result":{"action":"accept"}}`,
		"a bare refusal":         `{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}`,
		"another task's poll":    message("tasks/get", byID("of nobody")),
		"a method of tomorrow":   message("galaxies/merge", ""),
		"a list's next page":     message("tools/list", `"cursor":"x"`),
		"a retry with its state": message("tools/call", `"name":"who","requestState":"s"`),
	} {
		before := b.hits[home].Load()
		r := b.post(body, "Mcp-Protocol-Version", "2025-11-25", "Mcp-Session-Id", " "+session+" ")
		if r.status >= 300 || b.hits[home].Load() != before+1 {
			t.Errorf("%s: got %v, %d requests at the session's instance, want one", name, r, b.hits[home].Load()-before)
		}
	}
	if first := b.firstEvent("Mcp-Session-Id", session, "Last-Event-Id", "e-7"); !strings.Contains(first, "stream open on "+b.fleet[home].Name) {
		t.Errorf("standing stream: got %q, want the session's instance", first)
	}
	if got := b.fleet[home].LastHeader(http.MethodGet).Get("Last-Event-Id"); got != "e-7" {
		t.Errorf("got Last-Event-Id %q, want e-7", got)
	}
	if r := b.send(http.MethodDelete, "/mcp", "", "Mcp-Session-Id", session); r.status != 204 {
		t.Errorf("end: got %v, want 204", r)
	}
	if all, here := b.contacted(), int(b.hits[home].Load()); all != here {
		t.Errorf("%d of %d requests went elsewhere", all-here, all)
	}
}

// TestModernClientsSendNoAnswers: in that era a POST is a request or notification.
func TestModernClientsSendNoAnswers(t *testing.T) {
	b := start(t, setup{})
	for _, body := range []string{`{"jsonrpc":"2.0","id":5,"result":{}}`, `{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}}`} {
		r := b.post(body, "Mcp-Protocol-Version", "2026-07-28")
		if r.status != 400 || r.code() != -32600 || r.parsed().ID != nil {
			t.Errorf("got %v, want 400 -32600 without an id", r)
		}
	}
	if n := b.contacted(); n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
}

func TestSeveralSessionIDsAreRefused(t *testing.T) {
	b := start(t, setup{})
	session := b.open("2025-11-25")
	before := b.contacted()
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		r := b.send(method, "/mcp", message("ping", ""), "Mcp-Session-Id", session, "Mcp-Session-Id", "other")
		if r.status != 400 || r.code() != -32600 {
			t.Errorf("%s: got %v, want 400 -32600", method, r)
		}
	}
	if n := b.contacted() - before; n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
}

// TestModernGetAndDeleteKnowNoSession: in that era the header means nothing. Nobody is led
// by it, nor is the session ended, and an upstream of both eras does not hear of it.
func TestModernGetAndDeleteKnowNoSession(t *testing.T) {
	b := start(t, setup{pool: inTurn})
	session := b.open("2025-11-25") // at a
	for _, id := range []string{session, "no such session", "x\ty"} {
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			reached := map[int]bool{}
			for range 3 {
				before := []int64{b.hits[0].Load(), b.hits[1].Load(), b.hits[2].Load()}
				r := b.send(method, "/mcp", "", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Session-Id", id, "Last-Event-Id", "7")
				if r.status != 405 || r.header.Get("Allow") != "POST" {
					t.Errorf("%s: got %v, want the upstream's 405", method, r)
				}
				for i := range before {
					reached[i] = reached[i] || b.hits[i].Load() != before[i]
				}
			}
			for i, s := range b.fleet {
				h := s.LastHeader(method)
				if !reached[i] || h.Get("Mcp-Session-Id") != "" || h.Get("Last-Event-Id") != "" {
					t.Errorf("%s at %s: reached %v, with %v", method, s.Name, reached[i], h)
				}
			}
		}
	}
	if r := b.legacy(session, "ping", ""); r.status != 200 {
		t.Errorf("the session: got %v, want it alive", r)
	}
}

// TestUnknownSessionIsAskedForInTheFleet: the map may have lost it. It is gone only
// if every instance says so.
func TestUnknownSessionIsAskedForInTheFleet(t *testing.T) {
	strict := func(s *mcptest.Server) { s.SessionOptional = false }
	t.Run("all deny", func(t *testing.T) {
		b := start(t, setup{server: strict})
		r := b.legacy("nonesuch", "tools/list", "")
		if r.status != 404 || r.header.Get("Retry-After") != "" {
			t.Errorf("got %v, want 404", r)
		}
		if pings, others := b.calls("ping"), b.calls("tools/list"); pings != 3 || others != 0 {
			t.Errorf("%d pings and %d calls, want 3 and none", pings, others)
		}
	})
	t.Run("one knows", func(t *testing.T) {
		b := start(t, setup{server: strict})
		r := fetch(t, http.MethodPost, b.urls[2], message("initialize", `"protocolVersion":"2025-11-25"`))
		session := r.header.Get("Mcp-Session-Id")
		for range 2 {
			if r := b.legacy(session, "tools/call", `"name":"who"`); r.status != 200 || !strings.Contains(r.body, `"c"`) {
				t.Errorf("got %v, want 200 from c", r)
			}
		}
		if pings := b.calls("ping"); pings > 3 {
			t.Errorf("%d pings, want each instance asked once", pings)
		}
	})
	for name, fault := range map[string]int{"error": 500, "refuses the credentials": 401, "forbids": 403, "overloaded": 503} {
		t.Run("one "+name, func(t *testing.T) {
			b := start(t, setup{server: func(s *mcptest.Server) {
				strict(s)
				if s.Name == "b" {
					s.Intercept = func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
						w.WriteHeader(fault)
						return true
					}
				}
			}})
			r := b.legacy("nonesuch", "tools/list", "")
			got := r.parsed().Error
			if r.status != 503 || got.Code != -31503 || !got.Data.Retryable || r.header.Get("Retry-After") != "1" || got.Data.RetryAfterMs != 1000 {
				t.Errorf("got %v, Retry-After %q, want 503 -31503, retryable", r, r.header.Get("Retry-After"))
			}
		})
	}
}

// TestBatchFollowsItsSession: 2025-03-26 clients send no version header, so the
// session's negotiated version tells whether batches are allowed.
func TestBatchFollowsItsSession(t *testing.T) {
	for version, want := range map[string]int{"2025-03-26": 200, "2025-06-18": 400, "2025-11-25": 400} {
		b := start(t, setup{server: func(s *mcptest.Server) { s.SessionOptional = false }})
		session := b.open(version)
		home := b.fleet[b.owner("initialize")]
		before := b.contacted()
		r := b.post("["+message("tools/list", "")+`,{"jsonrpc":"2.0","method":"notifications/x"},`+message("ping", "")+"]", "Mcp-Session-Id", session)
		if r.status != want || want == 400 && r.code() != -32600 {
			t.Errorf("%s: got %v, want %d", version, r, want)
		}
		if n, at := b.contacted()-before, home.Calls("ping"); want == 200 && (n != 1 || at != 1) || want == 400 && n != 0 {
			t.Errorf("%s: %d requests, %d at the session's instance", version, n, at)
		}
	}
}

// TestBatchWithoutASession goes to whom its tasks belong to, as one request.
func TestBatchWithoutASession(t *testing.T) {
	b := start(t, setup{pool: inTurn})
	var ids []string
	for range 2 {
		ids = append(ids, b.legacy("", "tools/call", slowTool+`,"task":{}`).parsed().Result.Task.TaskID)
	}
	poll := func(ids ...string) reply {
		var batch strings.Builder
		batch.WriteString(message("ping", ""))
		for _, id := range ids {
			batch.WriteString("," + message("tasks/get", byID(id)))
		}
		return b.post("["+batch.String()+"]", "Mcp-Protocol-Version", "2025-03-26")
	}
	for i, id := range ids {
		before := b.fleet[i].Calls("tasks/get")
		if r := poll(id, id); r.status != 200 || strings.Contains(r.body, `"error"`) || b.fleet[i].Calls("tasks/get") != before+2 {
			t.Errorf("task of %s: got %v", b.fleet[i].Name, r)
		}
	}
	before := b.contacted()
	if r := poll(ids...); r.status != 400 || r.code() != -32600 {
		t.Errorf("tasks of two owners: got %v, want 400 -32600", r)
	}
	if n := b.contacted() - before; n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
}

// TestEveryPollReachesItsOwner: many tasks, each poll at the right place.
func TestEveryPollReachesItsOwner(t *testing.T) {
	b := start(t, setup{})
	var ids []string
	for range 30 {
		ids = append(ids, b.makeTask())
	}
	for _, id := range ids {
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			if r := b.modern(method, id, byID(id)); r.status != 200 || r.code() != 0 {
				t.Errorf("%s: got %v", method, r)
			}
		}
	}
	for _, s := range b.fleet {
		if s.Executions() == 0 || s.Denied("tasks/get")+s.Denied("tasks/cancel") > 0 {
			t.Errorf("%s: %d tools, denied %d", s.Name, s.Executions(), s.Denied("tasks/get"))
		}
	}
	if got := fmt.Sprint(b.calls("tools/call"), b.calls("tasks/get")); got != "30 30" {
		t.Errorf("got %s calls, want 30 30", got)
	}
}

// In a session the session's instance is asked, whoever owns the task. That it does
// not know the task must not cost the owner its binding.
func TestSessionElsewhereDropsNoBinding(t *testing.T) {
	b := start(t, setup{pool: inTurn, server: func(s *mcptest.Server) { s.SessionOptional = true }})
	session := b.open("2025-11-25")
	id := b.makeTask() // the next instance's turn
	if r := b.legacy(session, "tasks/get", byID(id)); r.code() != -32602 {
		t.Fatalf("in the session: got %v, want its instance's denial", r)
	}
	b.access.take(t)
	if r := b.modern("tasks/get", id, byID(id)); r.code() != 0 {
		t.Errorf("got %v, want the task", r)
	}
	if record := b.record(); record["source"] != "bound" {
		t.Errorf("got source %v, want bound: the binding was dropped", record["source"])
	}
}
