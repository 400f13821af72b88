package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/admin"
	"berth/internal/config"
	"berth/internal/mcptest"
	"berth/internal/realtest"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collected is a collector of OTLP/HTTP that keeps the spans.
type collected struct {
	mu    sync.Mutex // guards the field below
	spans []*tracepb.Span
}

func (c *collected) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	request := new(collector.ExportTraceServiceRequest)
	if err != nil || proto.Unmarshal(body, request) != nil {
		http.Error(w, "not OTLP", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

// server is the only span of a request that has this name.
func (c *collected) server(t *testing.T, name string) (found *tracepb.Span) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.Name == name && s.Kind == tracepb.Span_SPAN_KIND_SERVER {
			if found != nil {
				t.Fatalf("two spans %s", name)
			}
			found = s
		}
	}
	if found == nil {
		t.Fatalf("no span %s", name)
	}
	return found
}

// A berth as it is run: the collector learns which call made the task that is polled, and the file who did
// and ordered what, and no secret of anybody's.
func TestWhatABerthTellsOfDeeds(t *testing.T) {
	const token, argument, bearer, guessed = "canary-token", "canary-argument", "canary-bearer", "canary-guessed"
	spans := new(collected)
	sink := httptest.NewServer(spans)
	t.Cleanup(sink.Close)
	tool := &mcptest.Server{Name: "a", SessionOptional: true}
	instance := httptest.NewServer(tool)
	t.Cleanup(func() { tool.Close(); instance.CloseClientConnections(); instance.Close() })
	cfg, pool := config.Default(), config.DefaultPool()
	pool.Upstreams = []config.Upstream{{Name: "a", URL: instance.URL + "/mcp"}}
	cfg.Listen, cfg.Admin.Listen, cfg.Admin.Token, cfg.Pools, cfg.Store.URL = "127.0.0.1:0", "127.0.0.1:0", token, []config.Pool{pool}, "memory:"
	cfg.Telemetry.Traces, cfg.Log.Audit, cfg.Drain = sink.URL, "file:"+filepath.Join(t.TempDir(), "audit.jsonl"), config.Duration(time.Second)
	var logs realtest.Journal
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- serve(ctx, reading{}, cfg, nil, &logs) }()
	realtest.Eventually(t, "it serves", func() bool { return addressIn(&logs, "serving") != "" && addressIn(&logs, "admin listening") != "" })

	call := func(method, name, params string) string {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`, method, params)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addressIn(&logs, "serving")+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for key, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28",
			"Mcp-Method": method, "Mcp-Name": name, "Authorization": "Bearer " + bearer,
		} {
			r.Header.Set(key, value)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return string(text)
	}
	var made struct{ Result struct{ TaskID string } }
	_ = json.Unmarshal([]byte(call("tools/call", "slow_compute", `"name":"slow_compute","arguments":{"seconds":60,"label":"`+argument+`"}`)), &made)
	id := made.Result.TaskID
	call("tasks/get", id, `"taskId":"`+id+`"`)
	call("tasks/cancel", id, `"taskId":"`+id+`"`)
	call("tasks/update", "none", `"taskId":"none","inputResponses":{}`)
	address := addressIn(&logs, "admin listening")
	if err := admin.NewClient(address, token).Call(t.Context(), http.MethodPost, "/v1/upstreams/default/a/drain", struct{}{}, nil); err != nil {
		t.Fatal(err)
	}
	_ = admin.NewClient(address, guessed).Call(t.Context(), http.MethodPost, "/v1/reload", nil, nil)
	_ = admin.NewClient(address, guessed).Call(t.Context(), http.MethodPost, "/v1/%0a%1b%E2%80%AE"+strings.Repeat("x", 1000), nil, nil)
	var troubles struct{ Events []struct{ What, ID string } }
	if err := admin.NewClient(address, token).Call(t.Context(), http.MethodGet, "/v1/troubles/unknown_ids", nil, &troubles); err != nil || len(troubles.Events) != 1 || troubles.Events[0].ID != "none" {
		t.Errorf("troubles: got %+v, %v", troubles, err)
	}
	stop()
	if err := <-over; err != nil {
		t.Error(err)
	}

	creation := spans.server(t, "tools/call slow_compute")
	if links := spans.server(t, "tasks/get").Links; len(links) != 1 || string(links[0].SpanId) != string(creation.SpanId) || string(links[0].TraceId) != string(creation.TraceId) {
		t.Errorf("the poll is linked to %v, want %x", links, creation.SpanId)
	}
	text, err := os.ReadFile(strings.TrimPrefix(cfg.Log.Audit, "file:"))
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for line := range strings.Lines(string(text)) {
		var said struct {
			Event, Task, By, Order string
			Status                 int
		}
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		events = append(events, strings.TrimSpace(fmt.Sprintf("%s %d %s%s %s", said.Event, said.Status, said.Task, said.By, said.Order)))
	}
	want := []string{
		"made 200 " + id, "cancelled 200 " + id, "refused 200 none",
		"order 200 token POST /v1/upstreams/default/a/drain", "order 401 token POST /v1/reload", "order 401 token POST /v1/???" + strings.Repeat("x", 242) + "…",
	}
	if got := strings.Join(events, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	for _, secret := range []string{token, argument, bearer, guessed} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s stands in the audit log", secret)
		}
	}
}

// addressIn is where berth has said that it listens.
func addressIn(logs *realtest.Journal, message string) string {
	for line := range strings.Lines(logs.String()) {
		var said struct{ Msg, Address string }
		if json.Unmarshal([]byte(line), &said) == nil && said.Msg == message {
			return said.Address
		}
	}
	return ""
}
