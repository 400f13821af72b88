package proxy_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
)

// TestBrokenBatchAnswersAreWithheld: an array hides a task as well as a single
// message does, whether one was asked for or not.
func TestBrokenBatchAnswersAreWithheld(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`
	const task = `{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t1","status":"working"}}}`
	for name, c := range map[string]struct {
		request, answer string
		want            int
	}{
		"whole":                     {"[" + call + "]", "[" + task + "]", 200},
		"cut off":                   {"[" + call + "]", "[" + task + ",", 502},
		"two ids":                   {"[" + call + "]", `[{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t1","taskId":"t2"}}}]`, 502},
		"cut off, to a single call": {call, "[" + task + ",", 502},
		"no messages":               {call, "[1]", 502},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, setup{handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, c.answer)
			})})
			if r := b.post(c.request); r.status != c.want {
				t.Errorf("got %v, want %d", r, c.want)
			}
		})
	}
}

// TestEventsOfOtherTypesAreNoMessages: clients pass them over, and so neither they
// nor data that is no JSON end an answer. What follows them is looked at, with any status of success.
func TestEventsOfOtherTypesAreNoMessages(t *testing.T) {
	const answer = "event: ping\ndata: it is noon\n\ndata: still here\n\nevent: message\ndata: " + `{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t1","status":"working"}}}` + "\n\n"
	for _, status := range []int{200, 201} {
		b := start(t, setup{handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, answer)
		})})
		if r := b.post(message("tools/call", `"name":"x"`)); r.status != status || r.body != answer {
			t.Errorf("got %v, want %d and the stream as it came", r, status)
		}
		b.access.take(t)
		b.legacy("", "tasks/get", byID("t1"))
		if record := b.record(); record["source"] != "bound" {
			t.Errorf("%d: got source %v, want bound: the task in the stream was not seen", status, record["source"])
		}
	}
}

// TestOwnRequestsBearNothingOfTheCall: what berth asks on its own is in the caller's
// name, but it is not the caller's call.
func TestOwnRequestsBearNothingOfTheCall(t *testing.T) {
	withdrawn := make(chan http.Header, 1)
	b := start(t, setup{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("tasks/cancel")) {
			withdrawn <- r.Header
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t1","taskId":"t2"}}`)
	})})
	b.modern("tools/call", "x", `"name":"x"`, "Mcp-Param-Cart", "7", "Idempotency-Key", "k", "Authorization", "Bearer t")
	h := <-withdrawn
	if h.Get("Mcp-Param-Cart") != "" || h.Get("Idempotency-Key") != "" || h.Get("Authorization") != "Bearer t" {
		t.Errorf("got %v, want the caller's credentials and nothing of the call", h)
	}
}
