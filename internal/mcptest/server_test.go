package mcptest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"berth/internal/mcptest"
)

// The shape that a reader of ids must cope with: the answer comes last, in
// several data lines, after an empty event, a comment, progress and the status
// of another task.
func TestStreamedAnswerComesLast(t *testing.T) {
	b := newBench(t, &mcptest.Server{Name: "a", SSE: true, Stateless: true})
	b.legacy("", "tools/call", slow(60)+`,"task":{}`)
	r := b.legacy("", "tools/call", slow(60)+`,"task":{},"_meta":{"progressToken":"p"}`)
	if got := r.header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("got %q, want an event stream", got)
	}
	blocks := strings.Split(strings.TrimSuffix(r.body, "\n\n"), "\n\n")
	if len(blocks) != 5 {
		t.Fatalf("got %d blocks, want 5:\n%s", len(blocks), r.body)
	}
	for i, want := range []string{"\ndata: ", ": served by a", "notifications/tasks/status", "notifications/progress", "\ndata:  \"result\""} {
		if !strings.Contains(blocks[i], want) {
			t.Errorf("block %d: got %q, want %q in it", i, blocks[i], want)
		}
	}
	answer := blocks[4][strings.Index(blocks[4], "\n"):]
	if joined := strings.ReplaceAll(answer, "\ndata: ", "\n"); !json.Valid([]byte(joined)) {
		t.Errorf("the joined lines are not JSON: %s", joined)
	}
}

func TestJSONIsAnsweredWhereStreamsAreNotAccepted(t *testing.T) {
	b := newBench(t, &mcptest.Server{SSE: true, Stateless: true})
	if r := b.post(body("ping", ""), "Accept", "application/json"); r.header.Get("Content-Type") != "application/json" {
		t.Errorf("got %q, want application/json", r.header.Get("Content-Type"))
	}
}

func TestInterceptAnswersInsteadAndIsCounted(t *testing.T) {
	s := &mcptest.Server{Intercept: func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
		if !strings.Contains(string(body), "tools/list") {
			return false
		}
		w.WriteHeader(http.StatusTeapot)
		return true
	}, Stateless: true}
	b := newBench(t, s)
	if r := b.post(body("tools/list", ""), "X-Test", "yes"); r.status != http.StatusTeapot {
		t.Errorf("got %d, want 418", r.status)
	}
	if r := b.post(body("ping", "")); r.status != http.StatusOK {
		t.Errorf("got %d, want 200", r.status)
	}
	if s.Calls("tools/list") != 1 || s.LastHeader("tools/list").Get("X-Test") != "yes" {
		t.Errorf("got %d calls, header %v, want 1 with X-Test", s.Calls("tools/list"), s.LastHeader("tools/list"))
	}
}

func TestRestartForgetsTasksAndSessions(t *testing.T) {
	s := &mcptest.Server{}
	b := newBench(t, s)
	session := b.open("2025-11-25")
	made := result[task](t, b.modern("tools/call", "slow_compute", slow(60)))
	s.Restart()
	if r := b.legacy(session, "ping", ""); r.status != http.StatusNotFound {
		t.Errorf("session: got %d, want 404", r.status)
	}
	if r := b.modern("tasks/get", made.TaskID, byID(made.TaskID)); r.code() != -32602 {
		t.Errorf("task: got %s, want -32602", r.body)
	}
}

func TestOversizedBodyIsRefused(t *testing.T) {
	b := newBench(t, &mcptest.Server{})
	if r := b.post(strings.Repeat(" ", 4<<20+1)); r.status != http.StatusRequestEntityTooLarge {
		t.Errorf("got %d, want 413", r.status)
	}
}
