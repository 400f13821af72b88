package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"berth/internal/mcptest"
)

// resume opens the session's standing stream and returns its first event.
func (f *rig) resume(session, last string) string {
	f.t.Helper()
	ctx, leave := context.WithCancel(f.t.Context())
	defer leave()
	header := legacyHeader(session)
	if last != "" {
		header = append(header, "Last-Event-ID", last)
	}
	response := f.open(f.request(ctx, http.MethodGet, "", header...))
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		f.t.Fatalf("stream got %d", response.StatusCode)
	}
	return newEventLines(f.t, response).event()
}

// Where a client was in a stream of the old instance means something else, or
// nothing, to the new one; where it is in a stream of that, that knows.
func TestEventIDsOfTheOldInstanceAreNotResumedFrom(t *testing.T) {
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			f := newRig(t, reinit(rigOptions{tcp: true}))
			session := f.initialize()
			lose(f, f.servers[0])
			b := f.servers[1]
			resumed := func() string { return b.LastHeader(http.MethodGet).Get("Last-Event-Id") }
			event := f.resume(session, "old-7")
			if got := resumed(); got != "" || !strings.Contains(event, "stream open on b") {
				t.Errorf("the stream that moved the session was resumed from %q: %s", got, event)
			}
			f.resume(session, "old-7")
			if got := resumed(); got != "" {
				t.Errorf("a later stream was resumed from %q, which is the old instance's", got)
			}
			id, _, _ := strings.Cut(strings.TrimPrefix(event, "id: "), "\n")
			f.resume(session, id)
			if got := resumed(); got == "" || !strings.HasSuffix(id, got) {
				t.Errorf("resumed from %q, want what %q stands for", got, id)
			}
		})
	}
}

// questions has an instance answer a tool call with a question to the client, id 0, and
// then with what it was told.
func questions(question string) (fault faultFunc, told chan string) {
	told = make(chan string, 1)
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		switch {
		case strings.Contains(string(body), `"result"`):
			told <- string(body)
			w.WriteHeader(http.StatusAccepted)
			return true
		case methodIn(body) != "tools/call":
			return false
		}
		w.Header().Set("Content-Type", eventsType)
		fmt.Fprintf(w, "id: e-0\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":0,\"method\":\"elicitation/create\",\"params\":{\"message\":%q}}\n\n", question)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-told:
		case <-r.Context().Done():
			return true
		}
		_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
		return true
	}, told
}

// Both instances number their questions from 0. The answer to the old one's must not
// be taken for one to the new one's.
func TestAnswersToTheOldInstanceAreDropped(t *testing.T) {
	f := newRig(t, reinit(rigOptions{tcp: true, server: func(s *mcptest.Server) { s.SSE = true }}))
	a, b := f.servers[0], f.servers[1]
	session := f.initialize()
	ask, _ := questions("of a")
	a.inject(ask)
	call := f.open(f.legacyRequest(t.Context(), session, "tools/call", `"name":"ask"`))
	defer call.Body.Close()
	if got := newEventLines(t, call).event(); !strings.Contains(got, `"id":0`) || !strings.HasPrefix(got, "id: e-0\n") {
		t.Fatalf("a session that never moved: got %s", got)
	}
	f.lose(a)
	answer := `{"jsonrpc":"2.0","id":0,"result":{"action":"accept"}}`
	if r := f.in(session, http.MethodPost, answer); r.status != http.StatusAccepted || r.body != "" {
		t.Errorf("an answer to an instance that is lost got %d %s, want 202", r.status, r.body)
	}
	if got := f.who(session); got != "b" {
		t.Fatalf("answered by %s, want b", got)
	}
	ask, told := questions("of b")
	heard := make(chan string, 1)
	b.inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if strings.Contains(string(body), `"result"`) {
			heard <- string(body)
		}
		return ask(w, r, body)
	})
	again := f.open(f.legacyRequest(t.Context(), session, "tools/call", `"name":"ask"`))
	defer again.Body.Close()
	events := newEventLines(t, again)
	event := events.event()
	var asked struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.Unmarshal([]byte(eventsIn(event + "\n\n")[0]), &asked); err != nil || asked.Method != "elicitation/create" || string(asked.ID) == "0" {
		t.Fatalf("the question of b came as %s (%v)", event, err)
	}
	if r := f.in(session, http.MethodPost, answer); r.status != http.StatusAccepted || len(heard)+len(told) != 0 {
		t.Errorf("the late answer to a got %d, and b heard of it", r.status)
	}
	if r := f.in(session, http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, asked.ID)); r.status != http.StatusAccepted {
		t.Errorf("the answer to b got %d %s", r.status, r.body)
	}
	if got := <-heard; got != answer {
		t.Errorf("b was told %s, want %s", got, answer)
	}
	if got := events.event(); !strings.Contains(got, `"id":1,"result"`) {
		t.Errorf("the call ended with %s", got)
	}
}

// In a batch it could not be told whom an answer is for.
func TestAnswersInABatchAreRefusedAfterAMove(t *testing.T) {
	f := newRig(t, reinit(rigOptions{tcp: true}))
	session := f.open(f.request(t.Context(), http.MethodPost, message("initialize", `"protocolVersion":"2025-03-26"`))).Header.Get("Mcp-Session-Id")
	batch := func(messages string) reply {
		return f.do(f.request(t.Context(), http.MethodPost, "["+messages+"]", "Mcp-Session-Id", session))
	}
	answer := `{"jsonrpc":"2.0","id":0,"result":{}}`
	if r := batch(answer); r.status != http.StatusAccepted {
		t.Errorf("before the move got %d %s", r.status, r.body)
	}
	f.lose(f.servers[0])
	if r := batch(message("ping", "")); r.status != http.StatusOK {
		t.Errorf("a batch without answers got %d %s", r.status, r.body)
	}
	before := f.servers[1].Calls("")
	if r := batch(answer + "," + message("ping", "")); r.status != http.StatusBadRequest || f.servers[1].Calls("") != before {
		t.Errorf("an answer in a batch got %d %s", r.status, r.body)
	}
}
