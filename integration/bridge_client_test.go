package integration

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// askingClient is a client of 2026-07-28 that a test leads through the rounds of a call: it
// has a say in what it declares, which berth gets which round, and what it answers. Real
// clients do all else. It may be used by many goroutines at once.
type askingClient struct {
	http         http.Client
	token        string         // bearer token; empty: none
	capabilities map[string]any // that it declares
	meta         map[string]any // beside what every request has
	lastID       atomic.Int64
}

// allKinds is all that a client can be asked.
func allKinds() map[string]any {
	return map[string]any{"elicitation": map[string]any{}, "sampling": map[string]any{}, "roots": map[string]any{}}
}

func newAskingClient(t testing.TB) *askingClient {
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	return &askingClient{http: http.Client{Transport: transport, Timeout: 30 * time.Second}, capabilities: allKinds()}
}

// question is what a server wants to know.
type question struct {
	Method string `json:"method"`
	Params struct {
		Message string `json:"message"`
	} `json:"params"`
}

// message is a notification, as far as these tests read it.
type message struct {
	Method string `json:"method"`
	Params struct {
		Meta          map[string]any  `json:"_meta"`
		ProgressToken any             `json:"progressToken"`
		Progress      float64         `json:"progress"`
		Level         string          `json:"level"`
		URI           string          `json:"uri"`
		Notifications json.RawMessage `json:"notifications"`

		TaskID        string              `json:"taskId"`
		Status        string              `json:"status"`
		InputRequests map[string]question `json:"inputRequests"`
	} `json:"params"`
}

// round is the answer to one request, and what came before it on its stream.
type round struct {
	status   int
	header   http.Header
	messages []message
	text     string // of the answer

	Result struct {
		ResultType    string                     `json:"resultType"`
		InputRequests map[string]question        `json:"inputRequests"`
		RequestState  string                     `json:"requestState"`
		Content       []struct{ Text string }    `json:"content"`
		IsError       bool                       `json:"isError"`
		TaskID        string                     `json:"taskId"`
		NextCursor    string                     `json:"nextCursor"`
		Tools         []struct{ Name string }    `json:"tools"`
		Contents      []struct{ Text string }    `json:"contents"`
		Capabilities  map[string]json.RawMessage `json:"capabilities"`
	} `json:"result"`
	Error *roundError `json:"error"`
}

type roundError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// mayComeAgain reports whether berth could not say just now.
func (r round) mayComeAgain() bool {
	var data struct{ Retryable bool }
	return r.Error != nil && json.Unmarshal(r.Error.Data, &data) == nil && data.Retryable
}

func (r round) String() string { return fmt.Sprintf("%d %s", r.status, r.text) }

func (r round) asks() bool { return r.Result.ResultType == "input_required" }

// said is the first line of a tool's result.
func (r round) said() string {
	if len(r.Result.Content) == 0 {
		return ""
	}
	return r.Result.Content[0].Text
}

// ask sends a request and reads its answer, whatever it is.
func (c *askingClient) ask(t testing.TB, url, method string, params map[string]any) (round, error) {
	t.Helper()
	return c.do(c.request(t, t.Context(), url, method, params))
}

// request makes a request with an id of its own.
func (c *askingClient) request(t testing.TB, ctx context.Context, url, method string, params map[string]any) *http.Request {
	t.Helper()
	const version = "2026-07-28"
	meta := map[string]any{
		"io.modelcontextprotocol/protocolVersion":    version,
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "asking", "version": "1.0.0"},
		"io.modelcontextprotocol/clientCapabilities": c.capabilities,
	}
	maps.Copy(meta, c.meta)
	whole := map[string]any{"_meta": meta}
	maps.Copy(whole, params)
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.lastID.Add(1), "method": method, "params": whole})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("MCP-Protocol-Version", version)
	request.Header.Set("Mcp-Method", method)
	for _, key := range []string{"name", "uri", "taskId"} {
		if name, ok := params[key].(string); ok {
			request.Header.Set("Mcp-Name", name)
		}
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	return request
}

func (c *askingClient) do(request *http.Request) (round, error) {
	response, err := c.http.Do(request)
	if err != nil {
		return round{}, err
	}
	defer response.Body.Close()
	r := round{status: response.StatusCode, header: response.Header}
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		body, err := io.ReadAll(response.Body)
		r.text = string(body)
		_ = json.Unmarshal(body, &r) // what is no JSON is judged by its status
		return r, err
	}
	for events := newEvents(response.Body); ; {
		data, err := events.next()
		if err != nil {
			return r, fmt.Errorf("the stream broke off: %w", err)
		}
		var m message
		if err := json.Unmarshal(data, &m); err != nil {
			return r, err
		}
		if m.Method == "" {
			r.text = string(data)
			return r, json.Unmarshal(data, &r)
		}
		r.messages = append(r.messages, m)
	}
}

// events are the messages of an event stream.
type events struct{ lines *bufio.Reader }

func newEvents(r io.Reader) events { return events{bufio.NewReader(r)} }

func (e events) next() ([]byte, error) {
	for {
		line, err := e.lines.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:")); ok && len(bytes.TrimSpace(data)) > 0 {
			return bytes.TrimSpace(data), nil
		}
	}
}
