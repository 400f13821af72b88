package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// message returns the JSON-RPC response in a reply, JSON or event stream.
func (r reply) message(t *testing.T) rpcMessage {
	t.Helper()
	body := r.body
	if strings.HasPrefix(r.header.Get("Content-Type"), eventsType) {
		events := eventsIn(body)
		if len(events) == 0 {
			t.Fatalf("no event in %d %q", r.status, r.body)
		}
		body = events[len(events)-1]
	}
	var m rpcMessage
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		t.Fatalf("no message in %d %q: %v", r.status, r.body, err)
	}
	return m
}

// eventsIn returns the data of the events in an event stream.
func eventsIn(stream string) []string {
	var events []string
	for event := range strings.SplitSeq(strings.ReplaceAll(stream, "\r\n", "\n"), "\n\n") {
		var data []string
		for line := range strings.SplitSeq(event, "\n") {
			if value, ok := strings.CutPrefix(line, "data:"); ok {
				data = append(data, strings.TrimPrefix(value, " "))
			}
		}
		if joined := strings.Join(data, "\n"); joined != "" {
			events = append(events, joined)
		}
	}
	return events
}

// rpcMessage is what the tests read of a JSON-RPC response.
type rpcMessage struct {
	ID     json.RawMessage
	Result *rpcResult
	Error  *rpcError
}

type rpcResult struct {
	ResultType, TaskID, Status, StatusMessage string
	Task                                      *rpcResult
	StructuredContent                         struct{ Instance, Label string }
	Meta                                      map[string]json.RawMessage `json:"_meta"`
}

type rpcError struct {
	Code int
	Data struct {
		Reason       string
		Retryable    *bool
		RetryAfterMs int
	}
}

// fails holds an answer against the shape of a failure: HTTP status, code,
// reason, and whether a client may try again.
func (r reply) fails(t *testing.T, status, code int, reason string, retryable bool) {
	t.Helper()
	m := r.message(t)
	if r.status != status || m.Error == nil || m.Error.Code != code || m.Error.Data.Reason != reason {
		t.Fatalf("got %d %s, want %d, code %d, reason %q", r.status, r.body, status, code, reason)
	}
	if got := m.Error.Data.Retryable; got == nil || *got != retryable {
		t.Errorf("retryable in %s, want %v", r.body, retryable)
	}
	if after := r.header.Get("Retry-After"); (after != "") != retryable || (m.Error.Data.RetryAfterMs > 0) != retryable {
		t.Errorf("Retry-After %q and %s, want both exactly if retryable", after, r.body)
	}
}

// request makes a request with header pairs, "name", "value", ….
func (f *rig) request(ctx context.Context, method, body string, header ...string) *http.Request {
	f.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, f.base, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if body != "" {
		req.Header.Set("Content-Type", jsonType)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return req
}

// open sends a request and returns when the answer's header is there.
func (f *rig) open(req *http.Request) *http.Response {
	f.t.Helper()
	resp, err := f.client.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp
}

func (f *rig) do(req *http.Request) reply {
	f.t.Helper()
	resp := f.open(req)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatalf("reading %d %q: %v", resp.StatusCode, body, err)
	}
	return reply{resp.StatusCode, resp.Header, string(body)}
}

// modernRequest makes a well-formed modern call that declares the extension.
func (f *rig) modernRequest(ctx context.Context, method, name, params string, header ...string) *http.Request {
	f.t.Helper()
	return f.request(ctx, http.MethodPost, modernMessage(method, params), append(modernHeader(method, name), header...)...)
}

func (f *rig) modern(method, name, params string, header ...string) reply {
	f.t.Helper()
	return f.do(f.modernRequest(f.t.Context(), method, name, params, header...))
}

// legacyRequest makes a 2025-11-25 call, in a session unless that is "".
func (f *rig) legacyRequest(ctx context.Context, session, method, params string) *http.Request {
	f.t.Helper()
	return f.request(ctx, http.MethodPost, message(method, params), legacyHeader(session)...)
}

func legacyHeader(session string) []string {
	header := []string{"MCP-Protocol-Version", "2025-11-25"}
	if session != "" {
		header = append(header, "Mcp-Session-Id", session)
	}
	return header
}

func (f *rig) legacy(session, method, params string) reply {
	f.t.Helper()
	return f.do(f.legacyRequest(f.t.Context(), session, method, params))
}

// initialize opens a session.
func (f *rig) initialize() string {
	f.t.Helper()
	r := f.legacy("", "initialize", `"protocolVersion":"2025-11-25"`)
	id := r.header.Get("Mcp-Session-Id")
	if id == "" {
		f.t.Fatalf("no session in %d %q", r.status, r.body)
	}
	return id
}

func slowCompute(seconds float64) string {
	return fmt.Sprintf(`"name":"slow_compute","arguments":{"seconds":%v,"label":"job"}`, seconds)
}

// newTask starts a task in the extension's shape.
func (f *rig) newTask(seconds float64) string {
	f.t.Helper()
	r := f.modern("tools/call", "slow_compute", slowCompute(seconds))
	if m := r.message(f.t); m.Result != nil && m.Result.ResultType == "task" {
		return m.Result.TaskID
	}
	f.t.Fatalf("no task in %d %q", r.status, r.body)
	return ""
}

// newCoreTask starts a task in core's shape.
func (f *rig) newCoreTask(session string, seconds float64) string {
	f.t.Helper()
	r := f.legacy(session, "tools/call", slowCompute(seconds)+`,"task":{"ttl":60000}`)
	if m := r.message(f.t); m.Result != nil && m.Result.Task != nil {
		return m.Result.Task.TaskID
	}
	f.t.Fatalf("no task in %d %q", r.status, r.body)
	return ""
}

// poll asks for a task of the extension.
func (f *rig) poll(id string, header ...string) reply {
	f.t.Helper()
	return f.modern("tasks/get", id, byID(id), header...)
}
