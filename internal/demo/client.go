package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"berth/internal/client"
	"berth/internal/mcp"
	"berth/internal/timed"
)

// clientName is what the demonstration's clients call themselves.
const clientName = "berth demo"

// fallbackInterval is the wait between polls where a server suggests none.
const fallbackInterval = 100 * time.Millisecond

// A Client makes tool calls as tasks at one MCP endpoint. It may be used
// concurrently; every call has a conversation of its own.
type Client struct {
	URL  string       // the MCP endpoint
	HTTP *http.Client // nil means http.DefaultClient
	Kind Kind
}

// Call calls a tool that takes d, polls the task that it is handed to its end, if it is
// handed one, and checks that the result is the one asked for. Like the published
// clients it gives up at the first poll that is not answered with the task.
func (c *Client) Call(ctx context.Context, tool, label string, d time.Duration) Outcome {
	out := Outcome{Kind: c.Kind}
	v := &conversation{client: c}
	if out.Err = v.open(ctx); out.Err != nil {
		return out
	}
	result, err := v.callTool(ctx, tool, label, d, &out)
	if err == nil {
		out.Owner, err = checkResult(result, label)
	}
	out.Err = err
	return out
}

// open initialises a session, for the kind that has one.
func (v *conversation) open(ctx context.Context) error {
	if v.client.Kind != LegacySession {
		return nil
	}
	_, err := v.call(ctx, "initialize", map[string]any{
		"protocolVersion": client.Legacy,
		"capabilities":    struct{}{},
		"clientInfo":      client.Info(clientName),
	})
	if err != nil {
		return fmt.Errorf("initialise: %w", err)
	}
	if err := v.notify(ctx, mcp.MethodInitialized); err != nil {
		return v.sessionError("initialised", err)
	}
	return nil
}

// callTool calls the tool and returns its result, by way of a task or not.
func (v *conversation) callTool(ctx context.Context, tool, label string, d time.Duration, out *Outcome) (json.RawMessage, error) {
	params := map[string]any{
		"name":      tool,
		"arguments": map[string]any{"seconds": d.Seconds(), "label": label},
		"_meta":     map[string]any{"progressToken": label},
	}
	if v.client.Kind != Modern {
		params["task"] = map[string]any{"ttl": time.Minute.Milliseconds()}
	}
	start := time.Now()
	result, err := v.call(ctx, "tools/call", params)
	out.First = time.Since(start)
	if err != nil {
		return nil, v.sessionError("call the tool", err)
	}
	task, handed := client.ReadMade(v.version("tools/call"), result)
	if out.Handed = handed; !handed {
		return result, nil
	}
	return v.await(ctx, task, out)
}

// await polls the task to its end and returns the result of the call.
func (v *conversation) await(ctx context.Context, task client.Task, out *Outcome) (json.RawMessage, error) {
	id := task.ID
	for task.Status == "working" {
		if err := timed.Sleep(ctx, cmp.Or(task.PollEvery, fallbackInterval)); err != nil {
			return nil, err
		}
		raw, err := v.poll(ctx, "tasks/get", id, out)
		if err != nil {
			return nil, err
		}
		if task, _ = client.ReadTask(raw); task.ID != id {
			out.Lost++
			return nil, fmt.Errorf("%w: tasks/get answered with another task", ErrTaskLost)
		}
		out.see(task)
	}
	if task.Status != "completed" {
		return nil, fmt.Errorf("%w: the task ended %s", ErrWrongResult, task.Status)
	}
	if v.client.Kind == Modern {
		return task.Result, nil
	}
	return v.poll(ctx, "tasks/result", id, out)
}

// poll sends one tasks/* call and counts it.
func (v *conversation) poll(ctx context.Context, method, id string, out *Outcome) (json.RawMessage, error) {
	out.Polls++
	raw, err := v.call(ctx, method, map[string]any{"taskId": id})
	if err != nil {
		out.Lost++
		return nil, fmt.Errorf("%w: %s: %w", ErrTaskLost, method, err)
	}
	return raw, nil
}

// sessionError tells a session that is not known any more from other errors.
func (v *conversation) sessionError(doing string, err error) error {
	var denied *denial
	if v.session != "" && errors.As(err, &denied) && denied.status == http.StatusNotFound {
		return fmt.Errorf("%w: %s: %w", ErrSessionLost, doing, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// checkResult compares the label and returns the instance that computed it.
func checkResult(raw json.RawMessage, label string) (owner string, err error) {
	var result struct {
		Structured struct {
			Instance string `json:"instance"`
			Label    string `json:"label"`
		} `json:"structuredContent"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return "", fmt.Errorf("%w: %w", ErrWrongResult, err)
	}
	if got := result.Structured; got.Label != label || got.Instance == "" {
		return "", fmt.Errorf("%w: label %q of instance %q, want %q", ErrWrongResult, got.Label, got.Instance, label)
	}
	return result.Structured.Instance, nil
}
