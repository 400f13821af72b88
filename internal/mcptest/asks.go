package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// timedOut is what an errand notes where the client's answer did not come in time.
var timedOut = json.RawMessage(`"timed out"`)

// put asks something of the client, on the stream of the call that it is for.
func (t *talk) put(f *feed, kind, label string) ask {
	t.mu.Lock()
	id := strconv.Itoa(t.asked) // counted in each session, as the SDKs do
	t.asked++
	a := ask{id: id, answered: make(chan call, 1)}
	t.asks[id] = a.answered
	t.mu.Unlock()
	f.say(question(id, kind, label))
	return a
}

// answer takes a client's response. Those that nobody waits for are accepted too.
func (t *talk) answer(c call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if waiting, ok := t.asks[string(c.ID)]; ok {
		delete(t.asks, string(c.ID))
		waiting <- c
	}
}

func (t *talk) withdraw(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.asks, id)
}

// An ask is a request to the client that is under way.
type ask struct {
	id       string
	answered chan call
}

// wait returns the result or the error that the client answered. After its patience, 0
// for endless, it tells the client that the answer is not wanted any more.
func (s interactive) wait(ctx context.Context, t *talk, f *feed, a ask, patience time.Duration) (json.RawMessage, error) {
	defer t.withdraw(a.id)
	var late <-chan time.Time
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case c := <-a.answered:
		if c.Error != nil {
			return c.Error, nil
		}
		return c.Result, nil
	case <-late:
		f.say(notification("notifications/cancelled", map[string]any{
			"requestId": json.RawMessage(a.id), "reason": "no answer in time",
		}))
		return timedOut, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-s.closed():
		return nil, errClosed
	}
}

// question is a request to the client of that kind: elicitation, sampling, roots or ping.
func question(id, kind, label string) message {
	m := message{JSONRPC: "2.0", ID: json.RawMessage(id)}
	text := fmt.Sprintf("%s: go on?", label)
	switch kind {
	case "sampling":
		m.Method, m.Params = "sampling/createMessage", map[string]any{
			"messages":  []any{map[string]any{"role": "user", "content": content{Type: "text", Text: text}}},
			"maxTokens": 100,
		}
	case "roots":
		m.Method = "roots/list"
	case "ping":
		m.Method = "ping"
	default:
		m.Method, m.Params = "elicitation/create", map[string]any{
			"message":         text,
			"requestedSchema": json.RawMessage(`{"type":"object","properties":{"ok":{"type":"boolean"}}}`),
		}
	}
	return m
}
