package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"berth/internal/realtest"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

const (
	clientTrace = "00-11111111111111111111111111111111-1111111111111111-01"
	httpTrace   = "00-22222222222222222222222222222222-2222222222222222-01"
)

// TestSpansTellOfTheCall in the words of the semantic conventions for MCP, beneath
// the span that the client wrote into the message.
func TestSpansTellOfTheCall(t *testing.T) {
	b := start(t, setup{})
	b.post(message("tools/call", `"name":"who","_meta":{`+metaVersion+`,"traceparent":"`+clientTrace+`","tracestate":"v=1"}`),
		append(modernHeader("tools/call", "who"), "Traceparent", httpTrace)...)
	server, client := b.span("server", "tools/call who"), b.span("client", "tools/call who")
	if got := server.Parent(); got.TraceID().String() != strings.Repeat("1", 32) || got.SpanID().String() != strings.Repeat("1", 16) || got.TraceState().String() != "v=1" {
		t.Errorf("parent: got %v, want the one in _meta", got)
	}
	if links := server.Links(); len(links) != 1 || links[0].SpanContext.TraceID().String() != strings.Repeat("2", 32) {
		t.Errorf("links: got %v, want the HTTP request's trace", links)
	}
	if client.Parent().SpanID() != server.SpanContext().SpanID() {
		t.Error("the exchange's span is not beneath the request's")
	}
	got := attributes(server)
	for name, want := range map[string]string{
		"mcp.method.name": "tools/call", "mcp.protocol.version": "2026-07-28", "gen_ai.tool.name": "who", "gen_ai.operation.name": "execute_tool",
		"jsonrpc.request.id": "1", "network.transport": "tcp", "network.protocol.name": "http", "network.protocol.version": "1.1",
		"client.address": "127.0.0.1", "berth.routing.source": "picked", "http.response.status_code": "200",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	if got["mcp.session.id"] != "" || got["error.type"] != "" || got["client.port"] == "" {
		t.Errorf("got %v", got)
	}
	out := attributes(client)
	if out["mcp.method.name"] != "tools/call" || out["server.address"] != "127.0.0.1" || out["server.port"] == "" || out["berth.upstream"] != got["berth.upstream"] {
		t.Errorf("exchange: got %v", out)
	}
}

// TestTraceOfTheHTTPRequestIsTheParentWhereTheMessageHasNone.
func TestTraceOfTheHTTPRequestIsTheParentWhereTheMessageHasNone(t *testing.T) {
	b := start(t, setup{})
	b.legacy("", "tools/list", "", "Traceparent", httpTrace)
	if s := b.span("server", "tools/list"); s.Parent().TraceID().String() != strings.Repeat("2", 32) || len(s.Links()) != 0 {
		t.Errorf("got parent %v, links %v", s.Parent(), s.Links())
	}
	b.modern("server/discover", "", "", "Traceparent", "not a trace")
	if s := b.span("server", "server/discover"); s.Parent().IsValid() {
		t.Errorf("got parent %v, want none", s.Parent())
	}
}

// TestSpansTellOfFailures: what the protocol, the tool or berth calls one.
func TestSpansTellOfFailures(t *testing.T) {
	answer := `{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}`
	b := start(t, setup{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Header.Get("Break") != "" {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, answer)
	})})
	b.modern("tools/call", "t", `"name":"t"`)
	if got := attributes(b.span("server", "tools/call t")); got["error.type"] != "tool_error" {
		t.Errorf("tool's failure: got %v", got)
	}
	answer = `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"m"}}`
	b.modern("prompts/get", "p", `"name":"p"`)
	got := attributes(b.span("server", "prompts/get"))
	if got["error.type"] != "-32602" || got["rpc.response.status_code"] != "-32602" || got["gen_ai.prompt.name"] != "p" {
		t.Errorf("protocol's error: got %v", got)
	}
	answer = `{"jsonrpc":"2.0","id":1,"error":{"code":123456,"message":"m"}}`
	b.modern("tools/call", "own", `"name":"own"`)
	if got := attributes(b.span("server", "tools/call own")); got["error.type"] != "other" || got["rpc.response.status_code"] != "123456" {
		t.Errorf("a server's own error: got %v", got)
	}
	b.modern("tools/call", "broken", `"name":"broken"`, "Break", "1")
	client := b.span("client", "tools/call broken")
	if attributes(client)["error.type"] != "broken_off" || client.Status().Code != codes.Error {
		t.Errorf("broken exchange: got %v, %v", attributes(client), client.Status())
	}
	if got := attributes(b.span("server", "tools/call broken")); got["error.type"] != "-32603" {
		t.Errorf("request whose exchange broke: got %v", got)
	}
	b.post("{")
	if s := b.span("server", "POST"); attributes(s)["error.type"] != "-32700" || s.Status().Code != codes.Error {
		t.Errorf("refused: got %v", attributes(s))
	}
}

// TestSpansNameResourcesAndSessions, the latter in a way that lets nobody in.
func TestSpansNameResourcesAndSessions(t *testing.T) {
	b := start(t, setup{})
	session := b.open("2025-11-25")
	b.legacy(session, "resources/read", `"uri":"file:///a"`)
	b.legacy(session, "ping", "")
	read, ping := attributes(b.span("server", "resources/read")), attributes(b.span("server", "ping"))
	if read["mcp.resource.uri"] != "file:///a" {
		t.Errorf("got %v", read)
	}
	if id := read["mcp.session.id"]; id == "" || id != ping["mcp.session.id"] || strings.Contains(id, session) {
		t.Errorf("session %s stands as %q and %q, want one digest", session, id, ping["mcp.session.id"])
	}
}

// TestLabelsAreBounded: whatever a client invents, the series stay few.
func TestLabelsAreBounded(t *testing.T) {
	b := start(t, setup{upstreams: 1})
	for i := range 40 {
		name := fmt.Sprintf("invented-%d", i)
		b.modern(name, "", "")
		b.modern("tools/call", name, `"name":"`+name+`"`)
		b.post(message("tasks/"+name, byID(name)), "Mcp-Protocol-Version", name, "Mcp-Session-Id", name)
		b.send("X"+strings.ToUpper(name), "/mcp", "")
		b.send("GET", "/"+name, "")
	}
	realtest.Eventually(t, "all to be counted", func() bool { return strings.Count(b.access.String(), "\n") == 200 })
	for _, instrument := range []string{"berth.requests", "mcp.server.operation.duration", "mcp.client.operation.duration"} {
		methods := b.labels(instrument, "mcp.method.name")
		if len(methods) == 0 || len(methods) > 5 {
			t.Errorf("%s: got methods %v, want a few", instrument, methods)
		}
		for method := range methods {
			if strings.Contains(strings.ToLower(method), "invented") {
				t.Errorf("%s: method %q is a client's invention", instrument, method)
			}
		}
	}
	if text := dump(t, b.collect()); strings.Contains(strings.ToLower(text), "invented") {
		t.Error("a client's invention stands in the metrics")
	}
}

// TestFailedRequestsAreCountedFromZero: of a counter that begins with the first failures, a rate does not tell of them.
func TestFailedRequestsAreCountedFromZero(t *testing.T) {
	b := start(t, setup{handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })})
	failed := func() (n int64, stands bool) {
		for _, data := range b.said("berth.requests.failed") {
			for _, point := range data.(metricdata.Sum[int64]).DataPoints {
				n, stands = n+point.Value, true
			}
		}
		return n, stands
	}
	if n, stands := failed(); n != 0 || !stands {
		t.Errorf("before: got %d, there: %v, want 0", n, stands)
	}
	b.modern("tools/call", "t", `"name":"t"`)
	realtest.Eventually(t, "the failure to be counted", func() bool { n, _ := failed(); return n == 1 })
}

// TestDurationsAreMeasured in seconds, of the request and of the exchange.
func TestDurationsAreMeasured(t *testing.T) {
	b := start(t, setup{})
	b.modern("tools/call", "who", `"name":"who"`)
	b.span("server", "tools/call who")
	found := map[string]uint64{}
	realtest.Eventually(t, "both measures", func() bool {
		for _, m := range b.collect() {
			if data, ok := m.Data.(metricdata.Histogram[float64]); ok && m.Unit == "s" {
				for _, point := range data.DataPoints {
					found[m.Name] = point.Count
				}
			}
		}
		return found["mcp.server.operation.duration"] == 1
	})
	if found["mcp.client.operation.duration"] != 1 {
		t.Errorf("got %v, want one exchange", found)
	}
}
