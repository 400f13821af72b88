package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/mcptest"
	"berth/internal/realtest"
	"berth/internal/storage/redistest"
	"berth/proxy"
)

// TestEachRequestLeavesOneRecord that says who got it, how that was decided, and
// what became of it.
func TestEachRequestLeavesOneRecord(t *testing.T) {
	b := start(t, setup{pool: inTurn})
	created := b.modern("tools/call", "slow_compute", slowTool)
	id := created.parsed().Result.TaskID
	want := func(t *testing.T, fields map[string]any) {
		t.Helper()
		record := b.record()
		for name, value := range fields {
			if got := record[name]; fmt.Sprint(got) != fmt.Sprint(value) {
				t.Errorf("%s: got %v, want %v in %v", name, got, value, record)
			}
		}
		for _, name := range []string{"ms", "bytes", "time", "pool", "path"} {
			if record[name] == nil {
				t.Errorf("no %s in %v", name, record)
			}
		}
		if rest := b.access.take(t); len(rest) > 0 {
			t.Errorf("more records: %v", rest)
		}
	}
	want(t, map[string]any{
		"http": "POST", "path": "/mcp", "method": "tools/call", "tool": "slow_compute", "era": "modern", "version": "2026-07-28",
		"source": "picked", "upstream": "a", "status": 200, "outcome": "ok", "bytes": len(created.body),
	})
	b.modern("tasks/get", id, byID(id))
	want(t, map[string]any{"method": "tasks/get", "task": id, "source": "bound", "upstream": "a", "status": 200, "outcome": "ok"})
	b.modern("tasks/get", "nonesuch", byID("nonesuch"))
	want(t, map[string]any{"task": "nonesuch", "status": 200, "code": -32602, "outcome": "refused", "error": "-32602 Task not found"})
	b.legacy("", "tools/call", `"name":"no such tool"`)
	want(t, map[string]any{"era": "legacy", "status": 200, "code": -32602, "outcome": "ok"})
	b.modern("galaxies/merge", "", "")
	want(t, map[string]any{"method": "galaxies/merge", "status": 404, "code": -32601, "outcome": "ok"})
	b.post("{")
	want(t, map[string]any{"method": "POST", "status": 400, "code": -32700, "outcome": "refused"})
	b.post("[" + message("ping", "") + "]")
	want(t, map[string]any{"method": "batch", "status": 200})
	b.post(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	want(t, map[string]any{"method": "response", "status": 202})
	b.send("BREW", "/mcp", "")
	want(t, map[string]any{"http": "BREW", "method": "BREW", "status": 405, "outcome": "refused"})
}

// Who leaves a standing stream leaves a record that blames no upstream.
func TestWhoLeavesAStandingStreamIsNoFaultOfTheUpstream(t *testing.T) {
	b := start(t, setup{upstreams: 1})
	session := b.open("2025-11-25")
	b.record()
	conn, err := net.Dial("tcp", b.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: %s\r\nMcp-Protocol-Version: 2025-11-25\r\n\r\n", session)
	if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v, want a stream", answer, err)
	}
	conn.Close()
	if got := b.record(); got["outcome"] != "client_gone" || strings.Contains(fmt.Sprint(got["error"]), "upstream") {
		t.Errorf("got %v", got)
	}
}

// Who leaves an answer that has begun leaves a record that blames no upstream: it is berth that lets go of the rest.
func TestWhoLeavesAnAnswerThatHasBegunIsNoFaultOfTheUpstream(t *testing.T) {
	for kind, begins := range map[string]string{
		eventsType: `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}` + "\n\n",
		jsonType:   `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"`, // of which the client has nothing
	} {
		t.Run(kind, func(t *testing.T) {
			begun := make(chan struct{})
			b := start(t, setup{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", kind)
				_, _ = io.WriteString(w, begins)
				_ = http.NewResponseController(w).Flush()
				close(begun)
				<-r.Context().Done()
			})})
			conn, err := net.Dial("tcp", b.address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			call := modernMessage("tools/call", `"name":"work"`)
			fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"+
				"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: work\r\nContent-Length: %d\r\n\r\n%s", len(call), call)
			<-begun
			time.Sleep(20 * time.Millisecond) // until berth has it
			conn.Close()
			got := b.record()
			if got["outcome"] != "client_gone" || got["code"] != nil || strings.Contains(fmt.Sprint(got["error"]), "upstream") {
				t.Errorf("got %v", got)
			}
			if types := b.labels("mcp.server.operation.duration", "error.type"); len(types) != 1 || !types["client_gone"] {
				t.Errorf("got the types of errors %v", types)
			}
		})
	}
}

// TestRecordSaysWhoAskedAndHow: what an operator follows a client by, through berth and
// beyond it.
func TestRecordSaysWhoAskedAndHow(t *testing.T) {
	b := start(t, setup{upstreams: 1, options: func(o *proxy.Options) { o.TrustedProxies = loopbackPeers }})
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	r := b.send(http.MethodPost, "/mcp", message("initialize", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}`),
		"Content-Type", "application/json", "Accept", "application/json, text/event-stream", "User-Agent", "walker/1.0",
		"X-Forwarded-For", "192.0.2.7", "Traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	record := b.record()
	for name, want := range map[string]any{"client": "192.0.2.7", "agent": "walker/1.0", "trace": trace, "attempts": 1} {
		if fmt.Sprint(record[name]) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, want %v in %v", name, record[name], want, record)
		}
	}
	session, _ := record["session"].(string)
	if len(session) != 16 || session == r.header.Get("Mcp-Session-Id") {
		t.Errorf("session: got %q, want a digest of 16 characters", session)
	}
	if first, ok := record["first_ms"].(float64); !ok || first < 0 || first > record["ms"].(float64) {
		t.Errorf("first_ms: got %v, want at most ms, %v", record["first_ms"], record["ms"])
	}
}

// TestRecordNamesTheSource: whether the map, its cache or the fleet knew the owner
// is what an operator asks first.
func TestRecordNamesTheSource(t *testing.T) {
	redis := redistest.Start(t)
	one, two := start(t, setup{store: redis.URL()}), start(t, setup{store: redis.URL()})
	id := one.makeTask()
	one.access.take(t)
	poll := func(b *berth) any {
		b.modern("tasks/get", id, byID(id))
		return b.record()["source"]
	}
	if got := poll(one); got != "lru" {
		t.Errorf("at the berth that bound it: got %v, want lru", got)
	}
	// The other berth's upstreams have the same names but not the task: what counts
	// is where it found the owner.
	if got := poll(two); got != "store" {
		t.Errorf("at another berth: got %v, want store", got)
	}
	redis.Do("FLUSHALL")
	third := start(t, setup{store: redis.URL()})
	r := fetch(t, http.MethodPost, third.urls[0], modernMessage("tools/call", slowTool), modernHeader("tools/call", "slow_compute")...)
	id = r.parsed().Result.TaskID
	if got := poll(third); got != "asked" {
		t.Errorf("lost by the map: got %v, want asked", got)
	}
}

// TestRecordSaysLastSeen where berth answered in a silent owner's place.
func TestRecordSaysLastSeen(t *testing.T) {
	away := false
	b := start(t, setup{upstreams: 1, server: func(s *mcptest.Server) {
		s.Intercept = func(http.ResponseWriter, *http.Request, []byte) bool {
			if away {
				panic(http.ErrAbortHandler) // the connection breaks
			}
			return false
		}
	}})
	id := b.makeTask()
	b.access.take(t)
	away = true
	r := b.modern("tasks/get", id, byID(id))
	if record := b.record(); r.status != 200 || record["source"] != "last_seen" || record["upstream"] != "a" {
		t.Errorf("got %v, record %v, want 200 from last_seen", r, record)
	}
}

// TestRecordIsOneCleanLine whatever a client puts into what is recorded.
func TestRecordIsOneCleanLine(t *testing.T) {
	b := start(t, setup{})
	dirt := "a\\nb\\u0000\\u001b[31m\\u0085\\\"},{" + strings.Repeat("x", 5000)
	b.post(message("tools/call", `"name":"`+dirt+`"`))
	b.post(`{"jsonrpc":"2.0","id":1,"method":"` + dirt + `"}`)
	b.send(http.MethodGet, "/%0a%1b%c2%85"+strings.Repeat("y", 5000), "")
	realtest.Eventually(t, "three records", func() bool { return strings.Count(b.access.String(), "\n") == 3 })
	text := b.access.String()
	// Escaped they would come back to life in whatever reads the records.
	for _, control := range []string{`\n`, `\u0000`, `\u001b`, "\x1b", "\u0085", `\u0085`} {
		if strings.Contains(text, control) {
			t.Errorf("a control character stands in the records: %s", control)
		}
	}
	for _, line := range slices.Collect(strings.Lines(text)) {
		if len(line) > 1500 {
			t.Errorf("a record of %d bytes", len(line))
		}
	}
}
