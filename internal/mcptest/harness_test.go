package mcptest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"berth/internal/mcptest"
	"berth/internal/memnet"
)

// A bench is one server in memory and a way to call it.
type bench struct {
	t      *testing.T
	server *mcptest.Server
	client *http.Client
}

func newBench(t *testing.T, s *mcptest.Server) *bench {
	t.Helper()
	l := memnet.Listen("a")
	server := &http.Server{Handler: s}
	go server.Serve(l)
	transport := &http.Transport{DialContext: memnet.Dialer(l)}
	t.Cleanup(func() {
		s.Close()
		transport.CloseIdleConnections()
		server.Close()
	})
	return &bench{t: t, server: s, client: &http.Client{Transport: transport}}
}

// A reply is an answer, read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// code is the JSON-RPC error code, 0 for none.
func (r reply) code() int {
	var m struct {
		Error struct{ Code int } `json:"error"`
	}
	_ = json.Unmarshal([]byte(r.body), &m) // text/plain has no code
	return m.Error.Code
}

// result decodes the result of a reply.
func result[T any](t *testing.T, r reply) T {
	t.Helper()
	var m struct{ Result *T }
	if err := json.Unmarshal([]byte(r.body), &m); err != nil || m.Result == nil {
		t.Fatalf("no result in %d %q: %v", r.status, r.body, err)
	}
	return *m.Result
}

// send makes a request with header pairs, "name", "value", ….
func (b *bench) send(ctx context.Context, method, body string, header ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://a/mcp", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return b.client.Do(req)
}

func (b *bench) post(body string, header ...string) reply {
	b.t.Helper()
	return b.do(http.MethodPost, body, header...)
}

func (b *bench) do(method, body string, header ...string) reply {
	b.t.Helper()
	resp, err := b.send(b.t.Context(), method, body, header...)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(read)}
}

const (
	modernMeta   = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	tasklessMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
)

// body makes a request of id 1. Params are the members, without the braces.
func body(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)
}

// modern makes a well-formed modern call that declares the extension.
func (b *bench) modern(method, name, params string) reply {
	b.t.Helper()
	if params != "" {
		params += ","
	}
	return b.post(body(method, params+modernMeta),
		"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name)
}

// legacy makes a 2025-11-25 call, in a session unless that is empty.
func (b *bench) legacy(session, method, params string) reply {
	b.t.Helper()
	header := []string{"MCP-Protocol-Version", "2025-11-25"}
	if session != "" {
		header = append(header, "Mcp-Session-Id", session)
	}
	return b.post(body(method, params), header...)
}

// open initialises a session of that version.
func (b *bench) open(version string) string {
	b.t.Helper()
	r := b.post(body("initialize", fmt.Sprintf(`"protocolVersion":%q`, version)))
	return r.header.Get("Mcp-Session-Id")
}

// task is a task in either dialect.
type task struct {
	ResultType, TaskID, Status string
	TTLMs, TTL                 int64
	Result                     *toolResult
}

type toolResult struct {
	ResultType        string
	IsError           bool
	StructuredContent struct {
		Instance, Label string
		Answers         []json.RawMessage
	}
	Meta map[string]struct{ TaskID string } `json:"_meta"`
}

func byID(id string) string { return fmt.Sprintf(`"taskId":%q`, id) }

func slow(seconds float64) string {
	return fmt.Sprintf(`"name":"slow_compute","arguments":{"seconds":%v,"label":"job"}`, seconds)
}
