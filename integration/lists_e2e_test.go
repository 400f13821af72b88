//go:build e2e

package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// legacyCaller is a principal who speaks 2025-11-25 in a session.
type legacyCaller struct {
	url, who, session string
}

// listAnswer is what these tests read of an answer.
type listAnswer struct {
	status int
	body   string
	header http.Header

	Result struct {
		Task       struct{ TaskID string }
		Tasks      []struct{ TaskID string }
		NextCursor string
	}
	Error struct{ Code int }
}

// call sends one request and reads the response in the answer, JSON or events.
func (c *legacyCaller) call(t testing.TB, method, params string) listAnswer {
	t.Helper()
	id := `"id":1,`
	if strings.HasPrefix(method, "notifications/") {
		id = ""
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0",%s"method":%q,"params":{%s}}`, id, method, params)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2025-11-25", "X-User": c.who, "Mcp-Session-Id": c.session,
	} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	client := http.Client{Timeout: 30 * time.Second}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	got := listAnswer{status: response.StatusCode, body: string(read), header: response.Header}
	for line := range strings.Lines(got.body) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "data: ")
		_ = json.Unmarshal([]byte(line), &got) // what is no message leaves it as it is
	}
	return got
}

// open begins the caller's session.
func (c *legacyCaller) open(t testing.TB) {
	t.Helper()
	got := c.call(t, "initialize", `"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"lists","version":"1"}`)
	if c.session = got.header.Get("Mcp-Session-Id"); c.session == "" {
		t.Fatalf("no session: %d %s", got.status, got.body)
	}
	c.call(t, "notifications/initialized", "") // the server offers its task tool after it
}

// list reads the caller's tasks to the end.
func (c *legacyCaller) list(t testing.TB) (ids, cursors []string) {
	t.Helper()
	for cursor := ""; len(cursors) < 100; {
		params := ""
		if cursor != "" {
			params = fmt.Sprintf(`"cursor":%q`, cursor)
		}
		got := c.call(t, "tasks/list", params)
		if got.status != 200 || got.Error.Code != 0 {
			t.Fatalf("tasks/list: %d %s", got.status, got.body)
		}
		for _, task := range got.Result.Tasks {
			ids = append(ids, task.TaskID)
		}
		if cursor = got.Result.NextCursor; cursor == "" {
			break
		}
		cursors = append(cursors, cursor)
	}
	return ids, cursors
}

// The published server pages its tasks ten at a time, takes a task's id for a cursor,
// and knows no principals.
func TestPublishedServersTasksAreListedToTheirPrincipalsOnly(t *testing.T) {
	t.Parallel()
	config := configFile(t, "[auth]\nprincipal = \"header:X-User\"\n")
	berth := startBerth(t, everythingFleet(t, 3), "--config", config)
	var all []string
	for _, who := range []string{"alice", "bob"} {
		caller := &legacyCaller{url: berth.url(), who: who}
		caller.open(t)
		var made []string
		for range 23 {
			got := caller.call(t, "tools/call", `"name":"simulate-research-query","arguments":{"topic":"x","ambiguous":false},"task":{"ttl":600000}`)
			if got.Result.Task.TaskID == "" {
				t.Fatalf("no task: %d %q", got.status, got.body)
			}
			made = append(made, got.Result.Task.TaskID)
		}
		all = append(all, made...)
		ids, cursors := caller.list(t)
		if !slices.Equal(slices.Sorted(slices.Values(ids)), slices.Sorted(slices.Values(made))) {
			t.Errorf("%s: got %d tasks %v, want the %d made", who, len(ids), ids, len(made))
		}
		if len(cursors) < 2 {
			t.Errorf("%s: got %d cursors, want pages", who, len(cursors))
		}
		for _, cursor := range cursors {
			if slices.Contains(all, cursor) {
				t.Errorf("%s: the cursor %q is a task's id", who, cursor)
			}
		}
	}
	// It demands a session, and says so.
	if got := (&legacyCaller{url: berth.url(), who: "alice"}).call(t, "tasks/list", ""); got.status != 400 {
		t.Errorf("without a session: got %d %s, want the server's 400", got.status, got.body)
	}
}
