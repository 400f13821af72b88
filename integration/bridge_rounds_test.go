package integration

import (
	"context"
	"testing"
)

// maxRounds is more than any call of these tests takes.
const maxRounds = 8

// askedCall is a call whose rounds a test goes through.
type askedCall struct {
	client *askingClient
	method string // "": tools/call
	name   string
	args   map[string]any // nil: none
}

// params are those of the first round, or of the one that follows upon state.
func (c askedCall) params(state string, answers map[string]any) map[string]any {
	params := map[string]any{"name": c.name}
	if c.args != nil {
		params["arguments"] = c.args
	}
	if answers != nil {
		params["inputResponses"] = answers
	}
	if state != "" {
		params["requestState"] = state
	}
	return params
}

func (c askedCall) send(t testing.TB, url, state string, answers map[string]any) (round, error) {
	t.Helper()
	method := c.method
	if method == "" {
		method = "tools/call"
	}
	return c.client.ask(t, url, method, c.params(state, answers))
}

// hangUpAt sends a round, and hangs up as soon as the tool is as far as reached says.
func (c askedCall) hangUpAt(t testing.TB, url, state string, answers map[string]any, reached func() bool) {
	t.Helper()
	ctx, hangUp := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		_, _ = c.client.do(c.client.request(t, ctx, url, "tools/call", c.params(state, answers))) // nobody waits for it
	}()
	if !await(t, readyWithin, reached) {
		t.Fatal("the tool is not reached")
	}
	hangUp()
	<-left
}

// begin sends the first round, which has to end with a question.
func (c askedCall) begin(t testing.TB, url string) round {
	t.Helper()
	got, err := c.send(t, url, "", nil)
	if err != nil || !got.asks() || len(got.Result.InputRequests) == 0 || got.Result.RequestState == "" {
		t.Fatalf("%s: got %v, %v, want a question and its state", c.name, got, err)
	}
	return got
}

// answer sends the round after one that asked, with this answer to all of its questions.
func (c askedCall) answer(t testing.TB, url string, asked round, answer string) (round, error) {
	t.Helper()
	return c.send(t, url, asked.Result.RequestState, answersTo(asked, answer))
}

// goOn answers, and wants no error.
func (c askedCall) goOn(t testing.TB, url string, asked round, answer string) round {
	t.Helper()
	got, err := c.answer(t, url, asked, answer)
	if err != nil || got.Error != nil {
		t.Fatalf("%s, answered %s: got %v, %v, want the call to go on", c.name, answer, got, err)
	}
	return got
}

// answersTo answers each question in the way of its kind.
func answersTo(asked round, answer string) map[string]any {
	answers := map[string]any{}
	for key, q := range asked.Result.InputRequests {
		switch q.Method {
		case "sampling/createMessage":
			answers[key] = map[string]any{
				"role": "assistant", "model": "echo", "stopReason": "endTurn",
				"content": map[string]any{"type": "text", "text": answer},
			}
		case "roots/list":
			answers[key] = map[string]any{"roots": []any{map[string]any{"uri": "file:///" + answer, "name": answer}}}
		default:
			answers[key] = map[string]any{"action": "accept", "content": map[string]any{
				"answer": answer, "name": answer, "color": answer, "ok": true, "confirm": true, "context": answer, "part": answer,
			}}
		}
	}
	return answers
}

// through goes through all rounds, each at the berth that url gives, and answers the nth
// with the nth answer. It returns the last one.
func (c askedCall) through(t testing.TB, url func() string, answers ...string) (round, error) {
	t.Helper()
	got, err := c.send(t, url(), "", nil)
	for i := 0; err == nil && got.asks() && i < maxRounds; i++ {
		answer := "more"
		if i < len(answers) {
			answer = answers[i]
		}
		got, err = c.answer(t, url(), got, answer)
	}
	return got, err
}
