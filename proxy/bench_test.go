package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"berth/internal/journal"
	"berth/proxy"

	"go.opentelemetry.io/otel/trace/noop"
)

const (
	benchedTask = "786512e2-9e0d-44bd-8f29-789f320fe840"
	benchedView = `"taskId":"` + benchedTask + `","status":"working","createdAt":"2026-07-28T10:30:00Z",` +
		`"lastUpdatedAt":"2026-07-28T10:40:00Z","ttlMs":3600000,"pollIntervalMs":1000`
)

// benchedProgress is one of benchedEvents.
const benchedProgress = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,\"progress\":1}}\n\n"

// benchedEvents is how many notifications come before the result of the tool "talk".
const benchedEvents = 50

// benchedAnswers are ready, by what Mcp-Name says: what a benchmark counts is to be the proxy's.
func benchedAnswers() map[string][]byte {
	return map[string][]byte{
		benchedTask: answerOf(`"resultType":"complete",` + benchedView),
		"bind":      answerOf(`"resultType":"task",` + benchedView),
		"greet":     answerOf(`"resultType":"complete","content":[{"type":"text","text":"` + strings.Repeat("x", 512) + `"}]`),
		"":          answerOf(`"resultType":"complete","ttlMs":0,"cacheScope":"public","tools":[` + strings.Repeat(benchedTool+",", 11) + benchedTool + `]`),
	}
}

// benchedUpstream gives those answers.
func benchedUpstream() http.Handler {
	answers := benchedAnswers()
	var made atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the answer does not depend on it
		name := r.Header.Get("Mcp-Name")
		if name == "talk" {
			talk(w)
			return
		}
		answer := answers[name]
		if name == "make" {
			answer = answerOf(`"resultType":"task",` + strings.Replace(benchedView, benchedTask, strconv.FormatInt(made.Add(1), 10), 1))
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	})
}

const benchedTool = `{"name":"greet","description":"Greets who is named, as often as is wanted.",` +
	`"inputSchema":{"type":"object","properties":{"text":{"type":"string"},"times":{"type":"integer"}},"required":["text"]}}`

func answerOf(result string) []byte {
	return []byte(`{"jsonrpc":"2.0","id":1,"result":{` + result + `}}`)
}

// talk answers by a stream, each event by itself.
func talk(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	for range benchedEvents {
		_, _ = io.WriteString(w, benchedProgress)
		_ = http.NewResponseController(w).Flush()
	}
	_, _ = fmt.Fprintf(w, "event: message\ndata: %s\n\n", answerOf(`"resultType":"complete","content":[]`))
}

// Each of these is one request through berth, and through a ReverseProxy that checks nothing. Allocations are those of
// the proxy, of the upstream and of the client; the latter two are the same for both.

func BenchmarkPoll(b *testing.B) {
	benchmarkBeside(b, "tasks/get", benchedTask, `"taskId":"`+benchedTask+`"`)
}

func BenchmarkToolCall(b *testing.B) {
	benchmarkBeside(b, "tools/call", "greet", `"name":"greet","arguments":{"text":"the quick brown fox jumps over the lazy dog"}`)
}

func BenchmarkCreation(b *testing.B) {
	benchmarkBeside(b, "tools/call", "make", `"name":"make","arguments":{}`)
}

func BenchmarkList(b *testing.B) { benchmarkBeside(b, "tools/list", "", "") }

func BenchmarkEvents(b *testing.B) {
	benchmarkBeside(b, "tools/call", "talk", `"name":"talk","arguments":{}`)
}

// benchmarkBeside benchmarks one request through each proxy.
func benchmarkBeside(b *testing.B, method, name, params string) {
	request := onWire(method, name, params)
	b.Run("berth", func(b *testing.B) { benchmarkRequest(b, benchedBerth(b), request) })
	b.Run("ReverseProxy", func(b *testing.B) { benchmarkRequest(b, benchedReverseProxy(b), request) })
}

// benchedBerth is the address of a berth that counts and logs as in production, and whose task is bound.
func benchedBerth(b *testing.B) string {
	berth := start(b, setup{handler: benchedUpstream(), options: func(o *proxy.Options) {
		o.AccessLog = journal.New(io.Discard).Patient(slog.LevelInfo)
		o.Logger = slog.New(slog.DiscardHandler)
		o.Tracer = noop.NewTracerProvider()
		o.Decisions = new(proxy.Decisions)
	}})
	exchangeOnce(b, dialBenched(b, berth.address), onWire("tools/call", "bind", `"name":"bind","arguments":{}`))
	return berth.address
}

func benchedReverseProxy(b *testing.B) string {
	upstream := httptest.NewServer(benchedUpstream())
	b.Cleanup(upstream.Close)
	target, err := url.Parse(upstream.URL)
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.SetXForwarded()
		},
		Transport: &http.Transport{DisableCompression: true},
	})
	b.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// onWire is a modern request as it goes over a kept connection.
func onWire(method, name, params string) string {
	body := modernMessage(method, params)
	if name != "" {
		name = "Mcp-Name: " + name + "\r\n"
	}
	return fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: localhost\r\nUser-Agent: node\r\nAccept: application/json, text/event-stream\r\n"+
		"Content-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n%sContent-Length: %d\r\n\r\n%s",
		method, name, len(body), body)
}

// benchedConn is a client's connection.
type benchedConn struct {
	net.Conn
	in *bufio.Reader
}

func dialBenched(b *testing.B, address string) *benchedConn {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	return &benchedConn{Conn: conn, in: bufio.NewReader(conn)}
}

func benchmarkRequest(b *testing.B, address, request string) {
	conn := dialBenched(b, address)
	b.ReportAllocs()
	for b.Loop() {
		exchangeOnce(b, conn, request)
	}
}

// exchangeOnce sends request and reads its answer, which must be a success.
func exchangeOnce(b *testing.B, conn *benchedConn, request string) {
	if _, err := io.WriteString(conn, request); err != nil {
		b.Fatal(err)
	}
	response, err := http.ReadResponse(conn.in, nil)
	if err != nil {
		b.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		b.Fatalf("got %s", response.Status)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		b.Fatal(err)
	}
}
