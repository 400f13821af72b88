package proxy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"berth/internal/journal"
	"berth/proxy"
	"berth/routing/profile"

	"go.opentelemetry.io/otel/trace/noop"
)

// benchedLegacy is a server of 2025-11-25 that answers calls at once, as JSON or by a stream.
func benchedLegacy(stream bool) http.Handler {
	text := answerText()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		var message struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &message)
		result := text
		switch message.Method {
		case "initialize":
			w.Header().Set("Mcp-Session-Id", "s")
			result = `"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}`
		case "tools/list":
			result = `"tools":[` + benchedTool + `]`
		case "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
			return
		}
		if stream && message.Method == "tools/call" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "id: 0\ndata: \n\nid: 1\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{%s}}\n\n", message.ID, result)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{%s}}`, message.ID, result)
	})
}

func answerText() string { return `"content":[{"type":"text","text":"` + string(make512()) + `"}]` }

func make512() []byte {
	text := make([]byte, 512)
	for i := range text {
		text[i] = 'x'
	}
	return text
}

// benchedBridge is the address of a berth before a server of the legacy era.
func benchedBridge(b *testing.B, stream bool) string {
	berth := start(b, setup{handler: benchedLegacy(stream),
		endpoint: func(ep *proxy.Endpoint) {
			for _, u := range ep.Router.Pool.Upstreams() {
				u.Era = profile.SpokenLegacy
			}
			bridgeAt(b, ep)
		},
		options: func(o *proxy.Options) {
			o.AccessLog = journal.New(io.Discard).Patient(slog.LevelInfo)
			o.Logger = slog.New(slog.DiscardHandler)
			o.Tracer = noop.NewTracerProvider()
		},
	})
	return berth.address
}

// One call of a tool: by nobody, by a berth before a modern server, and by one before a legacy server
// that answers it in JSON, and in a stream. What the bridge costs is the difference to "direct".
func BenchmarkBridgedToolCall(b *testing.B) {
	request := onWire("tools/call", "greet", `"name":"greet","arguments":{"text":"the quick brown fox jumps over the lazy dog"}`)
	direct := httptest.NewServer(benchedUpstream())
	b.Cleanup(direct.Close)
	b.Run("direct", func(b *testing.B) { benchmarkRequest(b, direct.Listener.Addr().String(), request) })
	b.Run("routed", func(b *testing.B) { benchmarkRequest(b, benchedBerth(b), request) })
	b.Run("bridged/json", func(b *testing.B) { benchmarkRequest(b, benchedBridge(b, false), request) })
	b.Run("bridged/stream", func(b *testing.B) { benchmarkRequest(b, benchedBridge(b, true), request) })
}
