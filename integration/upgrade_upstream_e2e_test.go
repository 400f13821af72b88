//go:build e2e

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// tooLarge is more than a rule keeps by default.
const tooLarge = 9 << 20

// A held call whose upstream fails fails its task: in the upstream's own words where it
// has any, else in plain ones. Nothing goes on upstream.
func TestTaskFailsInItsUpstreamsWords(t *testing.T) {
	const own = `{"code":-32099,"message":"the printer is on fire","data":{"tray":2}}`
	for _, c := range []struct {
		name     string
		answer   func(w http.ResponseWriter, r *http.Request, c toolCall)
		verbatim string // the error, if it is the upstream's
		message  string // in the error, if it is berth's
	}{
		{name: "dies before its answer", answer: cutOff(""), message: "broke the exchange off"},
		{name: "dies amidst its answer", answer: cutOff(`{"jsonrpc":"2.0",`), message: "broke the exchange off"},
		{name: "dies amidst a stream", answer: cutOff("event: message\ndata: {"), message: "broke the exchange off"},
		{name: "ends a stream without a response", answer: says(200, "text/event-stream", ": nothing\n\n"), message: "ended its answer without a response"},
		{name: "answers rubbish", answer: says(200, "application/json", "<p>rubbish</p>"), message: "cannot be understood"},
		{name: "answers with a page", answer: says(200, "text/html", "<p>hello</p>"), message: "is not in JSON"},
		{name: "answers 9 MiB", answer: large("application/json", "", ""), message: "larger than the rule allows"},
		{name: "answers 9 MiB as an event", answer: large("text/event-stream", "data: ", "\n\n"), message: "larger than the rule allows"},
		{name: "answers 401", answer: says(401, "text/plain", "who are you?"), message: "the server answered 401"},
		{name: "answers 429", answer: says(429, "text/plain", "later"), message: "the server answered 429"},
		{name: "answers an error", answer: errs(200, own), verbatim: own},
		{name: "answers an error with 400", answer: errs(400, own), verbatim: own},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := startHolders(t, 1, "memory:", "", heldRules)
			h.tool.answer = c.answer
			tasks := h.hold(t, h.berths[0], 1)
			h.tool.let(tasks[0].call)
			h.awaitEach(t, h.berths, tasks, "failed as its upstream did", func(_ heldTask, s seen) bool {
				if s.Status != "failed" {
					return false
				}
				var whole struct{ Error json.RawMessage }
				_ = json.Unmarshal([]byte(s.object), &whole)
				if c.verbatim != "" {
					return string(whole.Error) == c.verbatim
				}
				return s.Error.Code == -32603 && strings.Contains(s.Error.Message, c.message)
			})
			if !await(t, readyWithin, func() bool { return h.tool.finished() == 1 }) {
				t.Error("the upstream's handler goes on: its connection is still open")
			}
			h.tool.wantNoneTwice(t)
		})
	}
}

// cutOff begins an answer and breaks the connection.
func cutOff(begun string) func(http.ResponseWriter, *http.Request, toolCall) {
	return func(w http.ResponseWriter, _ *http.Request, _ toolCall) {
		conn, out, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err) // HTTP/1.1 connections can be taken over
		}
		defer conn.Close()
		if begun == "" {
			return
		}
		kind := "application/json"
		if strings.HasPrefix(begun, "event:") {
			kind = "text/event-stream"
		}
		_, _ = fmt.Fprintf(out, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: 1000\r\n\r\n%s", kind, begun)
		_ = out.Flush() // whoever is gone is gone
	}
}

func says(status int, kind, body string) func(http.ResponseWriter, *http.Request, toolCall) {
	return func(w http.ResponseWriter, _ *http.Request, _ toolCall) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func errs(status int, object string) func(http.ResponseWriter, *http.Request, toolCall) {
	return func(w http.ResponseWriter, r *http.Request, c toolCall) {
		says(status, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, c.ID, object))(w, r, c)
	}
}

// large answers more than is kept, and then nothing more: only a caller that hangs up
// ends it.
func large(kind, before, after string) func(http.ResponseWriter, *http.Request, toolCall) {
	return func(w http.ResponseWriter, r *http.Request, c toolCall) {
		w.Header().Set("Content-Type", kind)
		for _, piece := range []string{
			before, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","content":[{"type":"text","text":"`, c.ID),
			strings.Repeat("x", tooLarge), `"}]}}`, after,
		} {
			if _, err := w.Write([]byte(piece)); err != nil {
				return
			}
		}
		_ = http.NewResponseController(w).Flush() // whoever is gone is gone
		<-r.Context().Done()
	}
}
