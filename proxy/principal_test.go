package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"berth/internal/mcptest"
	"berth/proxy"
)

var dateLine = regexp.MustCompile(`(?m)^Date: .*\r\n`)

// bytesOf sends a request and returns every byte of the answer but its date.
func (b *berth) bytesOf(method, body string, header ...string) string {
	b.t.Helper()
	var request strings.Builder
	fmt.Fprintf(&request, "%s /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", method)
	for i := 0; i < len(header); i += 2 {
		fmt.Fprintf(&request, "%s: %s\r\n", header[i], header[i+1])
	}
	if method == http.MethodPost {
		fmt.Fprintf(&request, "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	conn := b.dial()
	fmt.Fprintf(conn, "%s\r\n%s", &request, body)
	answer, err := io.ReadAll(conn)
	if err != nil {
		b.t.Fatal(err)
	}
	return dateLine.ReplaceAllString(string(answer), "")
}

// unknownLike is an id that nobody gave out, in the form of one.
func unknownLike(id string) string { return strings.Repeat("0", len(id)) }

// strangers are callers that may not know of what alice owns.
var strangers = map[string][]string{
	"another principal": {userHeader, "mallory"},
	"nobody":            nil,
	"nobody, twice":     {userHeader, "alice", userHeader, "alice"},
	"an empty name":     {userHeader, ""},
	"in another case":   {userHeader, "Alice"},
}

// TestForeignTaskLooksLikeNone: an id is no key. Whoever is not its owner learns
// not even that it exists, by any method, and no upstream hears of it.
func TestForeignTaskLooksLikeNone(t *testing.T) {
	b := start(t, setup{principals: true})
	modern := b.makeTask(userHeader, "alice")
	core := b.legacy("", "tools/call", slowTool+`,"task":{}`, userHeader, "alice").parsed().Result.Task.TaskID
	session := b.open("2025-11-25", userHeader, "mallory")
	requests := map[string]func(id string, who []string) string{}
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/pause"} {
		requests["modern "+method] = func(id string, who []string) string {
			return b.bytesOf(http.MethodPost, modernMessage(method, byID(id)), append(modernHeader(method, id), who...)...)
		}
		requests["modern, undeclared "+method] = func(id string, who []string) string {
			return b.bytesOf(http.MethodPost, message(method, byID(id)+`,"_meta":{`+metaVersion+`}`), append(modernHeader(method, id), who...)...)
		}
		requests["legacy "+method] = func(id string, who []string) string {
			return b.bytesOf(http.MethodPost, message(method, byID(id)), append([]string{"Mcp-Protocol-Version", "2025-11-25"}, who...)...)
		}
		requests["in mallory's session "+method] = func(id string, _ []string) string {
			return b.bytesOf(http.MethodPost, message(method, byID(id)), "Mcp-Session-Id", session, userHeader, "mallory")
		}
		requests["in a batch "+method] = func(id string, who []string) string {
			return b.bytesOf(http.MethodPost, "["+message(method, byID(id))+"]", append([]string{"Mcp-Protocol-Version", "2025-03-26"}, who...)...)
		}
	}
	before := b.contacted()
	for stranger, who := range strangers {
		for name, send := range requests {
			for _, id := range []string{modern, core} {
				foreign, unknown := send(id, who), send(unknownLike(id), who)
				if foreign != unknown {
					t.Errorf("%s, %s:\n%s\nwant, as for an unknown id:\n%s", stranger, name, foreign, unknown)
				}
			}
		}
	}
	if n := b.contacted() - before; n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
	if r := b.modern("tasks/get", modern, byID(modern), userHeader, "alice"); r.parsed().Result.TaskID != modern {
		t.Errorf("its owner: got %v, want the task", r)
	}
	if r := b.legacy("", "tasks/get", byID(core), userHeader, "alice"); r.status != 200 || r.code() != 0 {
		t.Errorf("its owner, core: got %v, want the task", r)
	}
	if r := b.modern("tasks/get", modern, byID(modern), userHeader, "mallory"); r.status != 200 || r.code() != -32602 {
		t.Errorf("a stranger: got %v, want 200 -32602", r)
	}
}

// TestForeignSessionLooksLikeNone: a session id lets nobody else in.
func TestForeignSessionLooksLikeNone(t *testing.T) {
	b := start(t, setup{principals: true})
	session := b.open("2025-11-25", userHeader, "alice")
	requests := map[string]func(id string, who []string) string{
		"GET": func(id string, who []string) string {
			return b.bytesOf(http.MethodGet, "", append([]string{"Mcp-Session-Id", id, "Accept", "text/event-stream"}, who...)...)
		},
		"GET that resumes": func(id string, who []string) string {
			return b.bytesOf(http.MethodGet, "", append([]string{"Mcp-Session-Id", id, "Last-Event-Id", "e-1"}, who...)...)
		},
		"DELETE": func(id string, who []string) string {
			return b.bytesOf(http.MethodDelete, "", append([]string{"Mcp-Session-Id", id}, who...)...)
		},
	}
	for name, body := range map[string]string{
		"call": message("tools/call", `"name":"who"`), "notification": `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		"response": `{"jsonrpc":"2.0","id":1,"result":{}}`, "batch": "[" + message("ping", "") + "]",
	} {
		requests["POST of a "+name] = func(id string, who []string) string {
			return b.bytesOf(http.MethodPost, body, append([]string{"Mcp-Session-Id", id}, who...)...)
		}
	}
	before := b.contacted()
	for stranger, who := range strangers {
		for name, send := range requests {
			foreign, unknown := send(session, who), send(unknownLike(session), who)
			if foreign != unknown || !strings.HasPrefix(foreign, "HTTP/1.1 404 ") {
				t.Errorf("%s, %s:\n%s\nwant 404, as for an unknown session:\n%s", stranger, name, foreign, unknown)
			}
		}
	}
	if n := b.contacted() - before; n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
	if r := b.legacy(session, "tools/call", `"name":"who"`, userHeader, "alice"); r.status != 200 || r.code() != 0 {
		t.Errorf("its owner: got %v, want 200", r)
	}
}

// TestPrincipalKeepsItsTasksWithANewToken: a refreshed token is the same caller.
func TestPrincipalKeepsItsTasksWithANewToken(t *testing.T) {
	b := start(t, setup{principals: true})
	id := b.makeTask(userHeader, "alice", "Authorization", "Bearer one")
	if r := b.modern("tasks/get", id, byID(id), userHeader, "alice", "Authorization", "Bearer two"); r.parsed().Result.TaskID != id {
		t.Errorf("got %v, want the task", r)
	}
}

// TestLostBindingIsLearnedAgainWhereAllowed: with principals only a setting lets
// berth ask the fleet, since whoever asks is taken for the owner.
func TestLostBindingIsLearnedAgainWhereAllowed(t *testing.T) {
	for recovers, want := range map[bool]int{false: -32602, true: 0} {
		b := start(t, setup{principals: true, endpoint: func(ep *proxy.Endpoint) { ep.Router.Recover = recovers }})
		// Made without berth, as if the map had lost it.
		r := fetch(t, http.MethodPost, b.urls[1], modernMessage("tools/call", slowTool), modernHeader("tools/call", "slow_compute")...)
		id := r.parsed().Result.TaskID
		if r := b.modern("tasks/get", id, byID(id), userHeader, "alice"); r.code() != want {
			t.Errorf("recover %v: got %v, want code %d", recovers, r, want)
		}
		asked := b.questions()
		if reached := b.contacted() > 1; recovers != reached || recovers != (asked == 1) {
			t.Errorf("recover %v: the fleet was asked %d times, upstreams saw the poll: %v", recovers, asked, reached)
		}
		if !recovers {
			continue
		}
		// Requests tell nothing here: the question reaches who does not own the task late, or never.
		b.modern("tasks/get", id, byID(id), userHeader, "alice")
		if n := b.questions() - asked; n != 0 {
			t.Errorf("the fleet was asked %d times again: the answer was not learned", n)
		}
	}
}

// TestAskingTheFleetOpensNobodysTasks: that the fleet knows an id makes it nobody's
// who asks, as long as it is known to be another's: bound, made or learned.
func TestAskingTheFleetOpensNobodysTasks(t *testing.T) {
	b := start(t, setup{principals: true, endpoint: func(ep *proxy.Endpoint) { ep.Router.Recover = true }})
	made := b.makeTask(userHeader, "alice")
	r := fetch(t, http.MethodPost, b.urls[1], modernMessage("tools/call", slowTool), modernHeader("tools/call", "slow_compute")...)
	learned := r.parsed().Result.TaskID
	b.modern("tasks/get", learned, byID(learned), userHeader, "alice")
	session := b.open("2025-11-25", userHeader, "alice")
	unknown := b.modern("tasks/get", "no-such", byID("no-such"), userHeader, "mallory")
	for _, who := range []string{"mallory", ""} {
		for name, id := range map[string]string{"made": made, "learned": learned} {
			if r := b.modern("tasks/get", id, byID(id), userHeader, who); r.String() != unknown.String() {
				t.Errorf("%q asks for the task that alice %s: got %v, want %v", who, name, r, unknown)
			}
		}
		if r := b.legacy(session, "ping", "", userHeader, who); r.status != 404 {
			t.Errorf("%q in the session of alice: got %v, want 404", who, r)
		}
	}
	for _, id := range []string{made, learned} {
		if r := b.modern("tasks/get", id, byID(id), userHeader, "alice"); r.code() != 0 {
			t.Errorf("alice: got %v", r)
		}
	}
}

// TestSubscriptionToForeignTasksIsNarrowed: the ids that are not the caller's own
// are taken out of the request, and no other byte.
func TestSubscriptionToForeignTasksIsNarrowed(t *testing.T) {
	m := new(mirror)
	b := start(t, setup{principals: true, server: func(s *mcptest.Server) {
		s.Intercept = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			if !bytes.Contains(body, []byte("subscriptions/listen")) {
				return false
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			m.ServeHTTP(w, r)
			return true
		}
	}})
	own, foreign := b.makeTask(userHeader, "alice"), b.makeTask(userHeader, "bob")
	request := func(ids string) string {
		return `{"jsonrpc":"2.0","id":1, "method":"subscriptions/listen","params":{"notifications":{"toolsListChanged": true,"taskIds": ` + ids + ` , "x":1.0},` + tasksMeta + `}}`
	}
	for name, c := range map[string]struct{ asked, want string }{
		"own and foreign": {fmt.Sprintf("[%q, %q]", foreign, own), fmt.Sprintf("[%q]", own)},
		"foreign only":    {fmt.Sprintf("[%q]", foreign), "[]"},
		"unknown":         {`["nonesuch"]`, "[]"},
		"own":             {fmt.Sprintf("[%q]", own), fmt.Sprintf("[%q]", own)},
	} {
		b.post(request(c.asked), append(modernHeader("subscriptions/listen", ""), userHeader, "alice")...)
		if _, got := m.seen(); got != request(c.want) {
			t.Errorf("%s: upstream saw\n%s\nwant\n%s", name, got, request(c.want))
		}
	}
	session := b.open("2025-11-25", userHeader, "alice")
	smuggled := message("subscriptions/listen", fmt.Sprintf(`"notifications":{"taskIds":[%q]}`, foreign))
	b.post(smuggled, "Mcp-Session-Id", session, userHeader, "alice")
	if _, got := m.seen(); strings.Contains(got, foreign) {
		t.Errorf("in a session: upstream saw %s", got)
	}
	before := b.contacted()
	if r := b.post("["+smuggled+"]", userHeader, "alice"); r.status != 400 || b.contacted() != before {
		t.Errorf("in a batch: got %v, want 400", r)
	}
}

// TestModernLabelOpensNoSession: the modern era has no sessions, but an upstream may
// not look at the version. What a request calls itself must not carry it into a
// session that was not looked up.
func TestModernLabelOpensNoSession(t *testing.T) {
	b := start(t, setup{principals: true, upstreams: 1})
	session := b.open("2025-11-25", userHeader, "alice")
	bob := []string{userHeader, "bob", "Mcp-Session-Id", session}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		r := b.send(method, "/mcp", "", append(bob, "Mcp-Protocol-Version", "2026-07-28")...)
		if got := b.fleet[0].LastHeader(method).Get("Mcp-Session-Id"); got != "" || r.status != 405 {
			t.Errorf("a modern %s took session %q upstream: %v", method, got, r)
		}
	}
	b.modern("tools/list", "", "", bob...)
	if got := b.fleet[0].LastHeader("tools/list").Get("Mcp-Session-Id"); got != "" {
		t.Errorf("a modern call took session %q upstream", got)
	}
	b.post(message("initialize", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}`), bob...)
	if got := b.fleet[0].LastHeader("initialize").Get("Mcp-Session-Id"); got != "" {
		t.Errorf("an initialize took session %q upstream", got)
	}
	if r := b.legacy(session, "ping", "", userHeader, "alice"); r.status != 200 {
		t.Errorf("alice: got %v", r)
	}
}

// TestLostSessionIsAskedForByItsName: the question must bear the session, or an
// instance that does not look for one claims it.
func TestLostSessionIsAskedForByItsName(t *testing.T) {
	b := start(t, setup{principals: true, endpoint: func(ep *proxy.Endpoint) { ep.Router.Recover = true }, server: func(s *mcptest.Server) { s.SessionOptional = true }})
	// Opened without berth, as if the map had lost it.
	r := fetch(t, http.MethodPost, b.urls[1], message("initialize", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}`))
	session := r.header.Get("Mcp-Session-Id")
	if r := b.legacy(session, "tools/list", "", userHeader, "alice"); r.status != 200 || b.record()["upstream"] != "b" {
		t.Errorf("got %v, want the answer of b", r)
	}
	if r := b.legacy("no-such", "tools/list", "", userHeader, "alice"); r.status != 404 {
		t.Errorf("unknown: got %v, want 404", r)
	}
}

// TestLostTaskIsAskedForInItsSession: an instance that wants a session for each call
// would deny the task without it.
func TestLostTaskIsAskedForInItsSession(t *testing.T) {
	b := start(t, setup{principals: true, endpoint: func(ep *proxy.Endpoint) { ep.Router.Recover = true }, server: func(s *mcptest.Server) { s.SessionOptional = false }})
	session := b.open("2025-11-25", userHeader, "alice")
	// Made without berth, as if the map had lost it.
	r := fetch(t, http.MethodPost, b.urls[b.owner("initialize")], message("tools/call", slowTool+`,"task":{"ttl":60000}`),
		"Mcp-Protocol-Version", "2025-11-25", "Mcp-Session-Id", session)
	id := r.parsed().Result.Task.TaskID
	if r := b.legacy(session, "tasks/get", byID(id), userHeader, "alice"); r.status != 200 || !strings.Contains(r.body, "working") {
		t.Errorf("got %v, want the task %q", r, id)
	}
}
