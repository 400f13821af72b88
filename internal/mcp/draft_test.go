package mcp

import (
	"strings"
	"testing"

	"berth/internal/wire"
	"time"
)

// draftCall is a request that is to become a task, as the first draft writes it.
func draftCall(member string) string {
	return request("tools/call", `"name":"t","_meta":{"modelcontextprotocol.io/task":`+member+`}`)
}

// classified is call after Classify.
func classified(t *testing.T, body string, h *wire.Header) *Call {
	t.Helper()
	c := call(t, body)
	m := Message{Calls: []Call{*c}}
	if e := Classify(&m, h); e != nil {
		t.Fatalf("Classify: %v", e)
	}
	return &m.Calls[0]
}

func TestClientsTaskIDIsRead(t *testing.T) {
	for name, tc := range map[string]struct {
		body        string
		makes, good bool
		id          string
	}{
		"an id":                      {draftCall(`{"taskId":"7-8","keepAlive":60000}`), true, true, "7-8"},
		"an escaped id":              {draftCall(`{"taskId":"\u0037-8"}`), true, true, "7-8"},
		"no string":                  {draftCall(`{"taskId":7}`), true, false, ""},
		"null":                       {draftCall(`{"taskId":null}`), true, false, ""},
		"empty":                      {draftCall(`{"taskId":""}`), true, false, ""},
		"too long":                   {draftCall(`{"taskId":"` + strings.Repeat("x", 257) + `"}`), true, false, strings.Repeat("x", 257)},
		"a control character":        {draftCall(`{"taskId":"a\u0000"}`), true, false, "a\x00"},
		"no id":                      {draftCall(`{"keepAlive":1}`), false, false, ""},
		"no object":                  {draftCall(`"7-8"`), false, false, ""},
		"another method":             {request("prompts/get", `"_meta":{"modelcontextprotocol.io/task":{"taskId":"7-8"}}`), true, true, "7-8"},
		"a task call":                {request("tasks/get", `"taskId":"1","_meta":{"modelcontextprotocol.io/task":{"taskId":"7-8"}}`), false, true, "7-8"},
		"a notification":             {`{"jsonrpc":"2.0","method":"notifications/x","params":{"_meta":{"modelcontextprotocol.io/task":{"taskId":"7-8"}}}}`, false, true, "7-8"},
		"the key of core's siblings": {request("tools/call", `"name":"t","task":{"taskId":"7-8"}`), false, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := classified(t, tc.body, header("Mcp-Protocol-Version", "2025-06-18"))
			if c.MakesTask() != tc.makes || c.NewTaskID != tc.id || (c.CheckNewTaskID(256) == nil) != tc.good {
				t.Errorf("got %v, %q, %v; want %v, %q, good %v", c.MakesTask(), c.NewTaskID, c.CheckNewTaskID(256), tc.makes, tc.id, tc.good)
			}
		})
	}
}

// In a modern message the member is any other.
func TestClientsTaskIDMeansNothingInTheModernEra(t *testing.T) {
	body := request("tools/call", `"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","modelcontextprotocol.io/task":{"taskId":"7-8"}}`)
	if classified(t, body, nil).MakesTask() {
		t.Error("a modern call makes a task of the client's")
	}
}

// Two ids, or a second spelling, are two readers' two tasks.
func TestAmbiguousClientsTaskIDIsRefused(t *testing.T) {
	for _, body := range []string{
		draftCall(`{"taskId":"a","taskId":"b"}`),
		draftCall(`{"taskId":"a","TaskId":"b"}`),
		draftCall(`{"taskId":"a"},"modelcontextprotocol.io/task":{"taskId":"b"}`),
		draftCall(`{"taskId":"a"},"ModelContextProtocol.io/task":{"taskId":"b"}`),
	} {
		if _, _, refusal := peek([]byte(body), testBatch); refusal == nil || refusal.Code != CodeInvalidRequest {
			t.Errorf("Peek(%s): got %v, want a refusal", body, refusal)
		}
	}
}

func TestRelatedTaskIsRead(t *testing.T) {
	c := call(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"_meta":{"modelcontextprotocol.io/related-task":{"taskId":"7-8"}}}}`)
	if c.RelatedTaskID != "7-8" || c.MakesTask() {
		t.Errorf("got %q, %v, want the related task", c.RelatedTaskID, c.MakesTask())
	}
}

// SEP-1686, 3.2: what a poll of the first draft is answered with.
func TestPollOfTheFirstDraftIsRead(t *testing.T) {
	a, err := PeekAnswer([]byte(`{"jsonrpc":"2.0","id":3,"result":{"taskId":"7-8","keepAlive":30000,"pollFrequency":5000,"status":"submitted","_meta":{"modelcontextprotocol.io/related-task":{"taskId":"7-8"}}}}`), false)
	if want := (Task{ID: "7-8", Status: "submitted", KeepAlive: 30 * time.Second}); err != nil || a.Task != want || a.CreatesTask() {
		t.Errorf("got %+v, %v, want %+v", a.Task, err, want)
	}
	for status, terminal := range map[string]bool{
		"submitted": false, "working": false, "input_required": false,
		"completed": true, "failed": true, "cancelled": true, "unknown": true,
	} {
		if task := (Task{Status: status}); task.Terminal() != terminal {
			t.Errorf("%s: got terminal %v", status, !terminal)
		}
	}
}
