package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"berth/internal/mcp"
)

// ErrNoRounds says that a tool which asks in mid-call was not answered in rounds.
var ErrNoRounds = errors.New("demo: the call did not ask and go on")

// bridgedTables are what the third part shows, and berth gets, with the command for SERVER.
const bridgedTables = `[[pools]]
path = "/mcp"
upstreams = [{ name = "plain", command = [SERVER] }]

[[upgrade]]
tools = ["sleep"]
poll_interval = "100ms"
`

// ServerVerb is the verb of berth's that the third part shows.
const ServerVerb = "demo-server"

// bridgedNap is how long the tool takes that becomes a task.
const bridgedNap = 500 * time.Millisecond

// maxRounds bounds the rounds of a call.
const maxRounds = 5

// tables returns bridgedTables with a command.
func tables(command ...string) string {
	quoted := make([]string, len(command))
	for i, word := range command {
		quoted[i] = fmt.Sprintf("%q", word)
	}
	return strings.Replace(bridgedTables, "SERVER", strings.Join(quoted, ", "), 1)
}

// bridged is what a modern client sees of a legacy server that berth runs.
type bridged struct {
	rounds []round // of the call that asks
	runs   int     // of its tool, as the server counts
	failed error   // how that call ended; nil: with a result

	nap Outcome // of a call that becomes a task
}

// A round is one answer to a call.
type round struct {
	ResultType string `json:"resultType"`
	Requests   map[string]struct {
		Params struct {
			Message string `json:"message"`
		} `json:"params"`
	} `json:"inputRequests"`
	State   string `json:"requestState"`
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
	Structured struct {
		Runs int `json:"runs"`
	} `json:"structuredContent"`
}

func (r round) asks() bool { return r.ResultType == "input_required" }

// text is what the round asks, or what it has come to.
func (r round) text() string {
	for _, asked := range r.Requests {
		return asked.Params.Message
	}
	if len(r.Content) > 0 {
		return r.Content[0].Text
	}
	return ""
}

// runBridged makes both calls through a front over the server that command runs.
func runBridged(ctx context.Context, front Front, command []string) (bridged, error) {
	before, end, err := front.start(nil, tables(command...))
	if err != nil {
		return bridged{}, err
	}
	defer end()
	c := &Client{URL: before.URL.String(), HTTP: newHTTPClient()}
	defer c.HTTP.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, trialLimit)
	defer cancel()
	var b bridged
	b.failed = b.greet(ctx, &conversation{client: c})
	b.nap = c.Call(ctx, "sleep", "nap", bridgedNap)
	return b, nil
}

// greet makes the call that asks, and answers what it asks.
func (b *bridged) greet(ctx context.Context, v *conversation) error {
	params := map[string]any{
		"name": "greet", "arguments": struct{}{},
		"_meta": map[string]any{"io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": struct{}{}}},
	}
	for range maxRounds {
		raw, err := v.call(ctx, mcp.MethodCallTool, params)
		if err != nil {
			return err
		}
		var r round
		if err := json.Unmarshal(raw, &r); err != nil {
			return fmt.Errorf("%w: %w", ErrWrongResult, err)
		}
		b.rounds, b.runs = append(b.rounds, r), r.Structured.Runs
		if !r.asks() {
			return nil
		}
		answers := map[string]any{}
		for key := range r.Requests {
			answers[key] = map[string]any{"action": "accept", "content": map[string]any{"name": "Ada"}}
		}
		params["requestState"], params["inputResponses"] = r.State, answers
	}
	return nil
}

// err is nil if the tool asked in one round, ended in the next, and ran once; and if the other
// one's call became a task.
func (b bridged) err() error {
	switch {
	case b.failed != nil:
		return fmt.Errorf("demo: greet: %w", b.failed)
	case len(b.rounds) != 2 || !b.rounds[0].asks() || b.rounds[1].text() != "Hello, Ada!":
		return fmt.Errorf("%w: %d rounds", ErrNoRounds, len(b.rounds))
	case b.runs != 1:
		return fmt.Errorf("%w: %d times in one call", ErrOverrun, b.runs)
	}
	return showing{naps: []Outcome{b.nap}, runs: 1}.err(true)
}
