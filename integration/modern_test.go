package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"
)

// modernClient sends single requests of 2026-07-28, for tests that need a say in
// which berth gets which request and when. Real clients do all else. It may be used
// by many goroutines at once.
type modernClient struct {
	http  http.Client
	token string // bearer token; empty: none. Clients of different tokens share no polls
}

func newModernClient(t testing.TB) *modernClient {
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	return &modernClient{http: http.Client{Transport: transport, Timeout: 30 * time.Second}}
}

// taskView is what these tests read of a task.
type taskView struct {
	TaskID        string `json:"taskId"`
	Status        string `json:"status"`
	StatusMessage string `json:"statusMessage"`
}

// answer is one answer, read to its end.
type answer struct {
	status int
	header http.Header
	body   string

	Result taskView `json:"result"`
	Error  struct {
		Code int `json:"code"`
		Data struct {
			Reason string `json:"reason"`
		} `json:"data"`
	} `json:"error"`
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, a.body) }

// create calls slow_compute, and expects a task.
func (c *modernClient) create(t testing.TB, url string, seconds int) taskView {
	t.Helper()
	return c.call(t, url, "tools/call", "slow_compute", slowCompute(seconds))
}

func slowCompute(seconds int) map[string]any {
	return map[string]any{
		"name":      "slow_compute",
		"arguments": map[string]any{"seconds": seconds, "label": "single"},
	}
}

func (c *modernClient) get(t testing.TB, url, taskID string) taskView {
	t.Helper()
	return c.call(t, url, "tasks/get", taskID, map[string]any{"taskId": taskID})
}

// poll asks for a task and expects nothing.
func (c *modernClient) poll(t testing.TB, url, taskID string) (answer, error) {
	t.Helper()
	return c.send(t, url, "tasks/get", taskID, map[string]any{"taskId": taskID})
}

// call sends one request and fails the test at once for any answer but a task.
func (c *modernClient) call(t testing.TB, url, method, name string, params map[string]any) taskView {
	t.Helper()
	got, err := c.send(t, url, method, name, params)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	if got.Result.TaskID == "" {
		t.Fatalf("%s: got %v, want a task", method, got)
	}
	return got.Result
}

// send sends one request and reads the answer, whatever it is. An answer that is not
// JSON has a body only.
func (c *modernClient) send(t testing.TB, url, method, name string, params map[string]any) (answer, error) {
	t.Helper()
	request := modernRequest(t, url, method, name, params)
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	return c.do(request)
}

// do sends a request and reads the answer, whatever it is.
func (c *modernClient) do(request *http.Request) (answer, error) {
	response, err := c.http.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	got := answer{status: response.StatusCode, header: response.Header, body: string(body)}
	_ = json.Unmarshal(body, &got) // what is no JSON is judged by its status
	return got, nil
}

// modernRequest makes a request that declares the Tasks extension. Params get a
// _meta of their own: the map must not be shared.
func modernRequest(t testing.TB, url, method, name string, params map[string]any) *http.Request {
	t.Helper()
	const version = "2026-07-28"
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion": version,
		"io.modelcontextprotocol/clientInfo":      map[string]any{"name": "modern", "version": "1.0.0"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{
			"elicitation": map[string]any{}, "sampling": map[string]any{}, "roots": map[string]any{},
			"extensions": map[string]any{"io.modelcontextprotocol/tasks": map[string]any{}},
		},
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("MCP-Protocol-Version", version)
	request.Header.Set("Mcp-Method", method)
	request.Header.Set("Mcp-Name", name)
	return request
}
