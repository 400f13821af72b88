//go:build e2e

package integration

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// legacyClient is a client of 2025-11-25 with one session, for tests that need a say in
// which berth gets which request and when. Real clients do all else. It may be used by many
// goroutines at once.
type legacyClient struct {
	http    http.Client
	token   string // bearer token; empty: none
	session string
	ids     atomic.Int64
}

// legacyMessage is what these tests read of a message.
type legacyMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta map[string]taskView `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *legacyError    `json:"error"`

	whole string
}

// legacyError is a JSON-RPC error.
type legacyError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Reason          string `json:"reason"`
		MayHaveExecuted *bool  `json:"mayHaveExecuted"`
	} `json:"data"`
}

// lost reports whether a call's task failed for this reason, and its tool may have run.
func (e *legacyError) lost(reason string) bool {
	return e != nil && e.Code == -32603 && e.Data.Reason == reason && e.Data.MayHaveExecuted != nil && *e.Data.MayHaveExecuted
}

// asks reports whether the message is a request of the server's.
func (m legacyMessage) asks() bool { return m.Method != "" && m.ID != nil }

// related is the task that the message says it belongs to.
func (m legacyMessage) related() string {
	return m.Params.Meta["io.modelcontextprotocol/related-task"].TaskID
}

// openSession makes a client and its session, through a berth.
func openSession(t testing.TB, url, token string) *legacyClient {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	c := &legacyClient{http: http.Client{Transport: transport}, token: token}
	response, err := c.send(t.Context(), http.MethodPost, url, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{`+
		`"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"sampling":{}},"clientInfo":{"name":"core","version":"1.0.0"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	c.session = response.Header.Get("Mcp-Session-Id")
	if body, _ := io.ReadAll(response.Body); c.session == "" {
		t.Fatalf("initialize: got %d %s, want a session", response.StatusCode, body)
	}
	if status, err := c.post(t.Context(), url, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); status/100 != 2 {
		t.Fatalf("initialized: got %d, %v", status, err)
	}
	return c
}

// send makes one request of the session.
func (c *legacyClient) send(ctx context.Context, method, url, body string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		request.Header.Set("Mcp-Session-Id", c.session)
		request.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	return c.http.Do(request)
}

// post posts a message that is not answered by one, and returns the status.
func (c *legacyClient) post(ctx context.Context, url, body string) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	response, err := c.send(ctx, http.MethodPost, url, body)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

// askWithin bounds a request that does not wait for a task.
const askWithin = 15 * time.Second

// ask makes a request that does not wait for a task. err says that there was no answer, or
// none that is a JSON-RPC message.
func (c *legacyClient) ask(ctx context.Context, url, method string, params any) (legacyMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	return c.follow(ctx, url, method, params, func(legacyMessage) {})
}

// follow makes a request and returns its response. Whatever else comes on the way is told.
func (c *legacyClient) follow(ctx context.Context, url, method string, params any, told func(legacyMessage)) (legacyMessage, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.ids.Add(1), "method": method, "params": params})
	if err != nil {
		return legacyMessage{}, err
	}
	response, err := c.send(ctx, http.MethodPost, url, string(body))
	if err != nil {
		return legacyMessage{}, err
	}
	defer response.Body.Close()
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		whole, err := io.ReadAll(response.Body)
		if err != nil {
			return legacyMessage{}, err
		}
		return parseLegacy(whole)
	}
	return readEvents(response.Body, told)
}

// readEvents reads an event stream up to its response.
func readEvents(stream io.Reader, told func(legacyMessage)) (legacyMessage, error) {
	lines := bufio.NewReader(stream)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return legacyMessage{}, fmt.Errorf("the stream ended without a response: %w", err)
		}
		data, is := bytes.CutPrefix(line, []byte("data:"))
		if data = bytes.TrimSpace(data); !is || len(data) == 0 {
			continue
		}
		m, err := parseLegacy(data)
		if err != nil || m.Method == "" {
			return m, err
		}
		told(m)
	}
}

func parseLegacy(whole []byte) (m legacyMessage, err error) {
	m.whole = string(whole)
	return m, json.Unmarshal(whole, &m)
}

// call calls a tool as a task, and returns the id of that.
func (c *legacyClient) call(ctx context.Context, url, tool string, arguments map[string]any) (task string, err error) {
	got, err := c.ask(ctx, url, "tools/call", map[string]any{"name": tool, "arguments": arguments, "task": map[string]any{"ttl": 300_000}})
	if err != nil {
		return "", err
	}
	var made struct{ Task taskView }
	if err := json.Unmarshal(got.Result, &made); err != nil || made.Task.TaskID == "" {
		return "", fmt.Errorf("calling %s: got %s, want a task", tool, got.whole)
	}
	return made.Task.TaskID, nil
}

// look polls a task once.
func (c *legacyClient) look(ctx context.Context, url, task string) (taskView, legacyMessage, error) {
	got, err := c.ask(ctx, url, "tasks/get", map[string]any{"taskId": task})
	if err != nil {
		return taskView{}, got, err
	}
	var view taskView
	if err := json.Unmarshal(got.Result, &view); err != nil {
		return taskView{}, got, fmt.Errorf("polling: got %s, want the task", got.whole)
	}
	return view, got, nil
}
