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

// outReply is an answer, read to its end.
type outReply struct {
	status int
	header http.Header
	body   string
}

// message returns the JSON-RPC response in a reply, JSON or event stream.
func (r outReply) message(t *testing.T) outMessage {
	t.Helper()
	body := r.body
	if strings.HasPrefix(r.header.Get("Content-Type"), outSSE) {
		events := outEvents(body)
		if len(events) == 0 {
			t.Fatalf("no event in %d %q", r.status, r.body)
		}
		body = events[len(events)-1]
	}
	var m outMessage
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		t.Fatalf("no message in %d %q: %v", r.status, r.body, err)
	}
	return m
}

// outEvents returns the data of the events in an event stream.
func outEvents(stream string) []string {
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

// outMessage is what the tests read of a JSON-RPC response.
type outMessage struct {
	ID     json.RawMessage
	Result *outResult
	Error  *outError
}

type outResult struct {
	ResultType, TaskID, Status, StatusMessage string
	Task                                      *outResult
	StructuredContent                         struct{ Instance, Label string }
	Meta                                      map[string]json.RawMessage `json:"_meta"`
}

type outError struct {
	Code int
	Data struct {
		Reason       string
		Retryable    *bool
		RetryAfterMs int
	}
}

// fails holds an answer against the shape of a failure: HTTP status, code,
// reason, and whether a client may try again.
func (r outReply) fails(t *testing.T, status, code int, reason string, retryable bool) {
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
func (f *outFleet) request(ctx context.Context, method, body string, header ...string) *http.Request {
	f.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, f.base, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if body != "" {
		req.Header.Set("Content-Type", outJSON)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return req
}

// open sends a request and returns when the answer's header is there.
func (f *outFleet) open(req *http.Request) *http.Response {
	f.t.Helper()
	resp, err := f.client.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp
}

func (f *outFleet) do(req *http.Request) outReply {
	f.t.Helper()
	resp := f.open(req)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatalf("reading %d %q: %v", resp.StatusCode, body, err)
	}
	return outReply{resp.StatusCode, resp.Header, string(body)}
}

const outMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`

// outBody makes a request of id 1; params are the members without braces.
func outBody(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)
}

// modernRequest makes a well-formed modern call that declares the extension.
func (f *outFleet) modernRequest(ctx context.Context, method, name, params string, header ...string) *http.Request {
	f.t.Helper()
	if params != "" {
		params += ","
	}
	header = append([]string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method}, header...)
	if name != "" {
		header = append(header, "Mcp-Name", name)
	}
	return f.request(ctx, http.MethodPost, outBody(method, params+outMeta), header...)
}

func (f *outFleet) modern(method, name, params string, header ...string) outReply {
	f.t.Helper()
	return f.do(f.modernRequest(f.t.Context(), method, name, params, header...))
}

// legacyRequest makes a 2025-11-25 call, in a session unless that is "".
func (f *outFleet) legacyRequest(ctx context.Context, session, method, params string) *http.Request {
	f.t.Helper()
	return f.request(ctx, http.MethodPost, outBody(method, params), outSession(session)...)
}

func outSession(session string) []string {
	header := []string{"MCP-Protocol-Version", "2025-11-25"}
	if session != "" {
		header = append(header, "Mcp-Session-Id", session)
	}
	return header
}

func (f *outFleet) legacy(session, method, params string) outReply {
	f.t.Helper()
	return f.do(f.legacyRequest(f.t.Context(), session, method, params))
}

// initialize opens a session.
func (f *outFleet) initialize() string {
	f.t.Helper()
	r := f.legacy("", "initialize", `"protocolVersion":"2025-11-25"`)
	id := r.header.Get("Mcp-Session-Id")
	if id == "" {
		f.t.Fatalf("no session in %d %q", r.status, r.body)
	}
	return id
}

func outSlow(seconds float64) string {
	return fmt.Sprintf(`"name":"slow_compute","arguments":{"seconds":%v,"label":"job"}`, seconds)
}

// newTask starts a task in the extension's shape.
func (f *outFleet) newTask(seconds float64) string {
	f.t.Helper()
	r := f.modern("tools/call", "slow_compute", outSlow(seconds))
	if m := r.message(f.t); m.Result != nil && m.Result.ResultType == "task" {
		return m.Result.TaskID
	}
	f.t.Fatalf("no task in %d %q", r.status, r.body)
	return ""
}

// newCoreTask starts a task in core's shape.
func (f *outFleet) newCoreTask(session string, seconds float64) string {
	f.t.Helper()
	r := f.legacy(session, "tools/call", outSlow(seconds)+`,"task":{"ttl":60000}`)
	if m := r.message(f.t); m.Result != nil && m.Result.Task != nil {
		return m.Result.Task.TaskID
	}
	f.t.Fatalf("no task in %d %q", r.status, r.body)
	return ""
}

func outID(id string) string { return fmt.Sprintf(`"taskId":%q`, id) }

// poll asks for a task of the extension.
func (f *outFleet) poll(id string, header ...string) outReply {
	f.t.Helper()
	return f.modern("tasks/get", id, outID(id), header...)
}
