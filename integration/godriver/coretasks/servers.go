package main

import (
	"context"
	"fmt"
	"strings"
)

// call is a call of a tool. Its arguments name it, so that the server can tell that it
// ran once.
type call struct {
	tool string
	args map[string]any
	want string // in its result
	asks int64  // how often it asks back
}

// kind is a kind of call, and how its client goes on with the task.
type kind struct {
	call   func(i int) call
	settle func(ctx context.Context, s *session, call call) error
}

var servers = map[string][]kind{
	"interactive": {
		{slowCompute(0.4), waited},
		{confirmDelete("Deleted '{}'"), waited},
		{asks("write_haiku", "topic", "Write a haiku about {}", 1), awaited},
		{asks("multi_input", "label", "given and given", 2), awaited},
		{failingJob, failed},
		{slowCompute(15), cancelled},
	},
	"taskless": {
		{slowCompute(0.4), awaited},
		{confirmDelete("{} deleted"), awaited},
		{asks("multi_input", "label", "given and given", 2), waited},
		{failingJob, failed},
		{slowCompute(15), cancelled},
	},
	"everything": {
		{operation(0.4), waited},
		{asks("trigger-elicitation-request", "call", "User provided", 1), awaited},
		{asks("trigger-sampling-request", "prompt", "{}", 1), waited},
		{badReference, failed},
		{operation(2), cancelled},
	},
	"fixture": {
		{asks("test_tool_with_logging", "call", "Tool with logging executed", 0), awaited},
		{asks("test_elicitation", "message", "action=accept", 1), waited},
		{asks("test_sampling", "prompt", "{}", 1), awaited},
		{asks("test_error_handling", "call", "intentionally returns an error", 0), failed},
		{asks("test_elicitation", "message", "", 0), cancelled},
	},
}

func named(i int) string { return fmt.Sprintf("go-call-%d", i) }

// asks is a call with its name as the one argument, which stands for {} in the result.
func asks(tool, argument, want string, times int64) func(i int) call {
	return func(i int) call {
		args := map[string]any{argument: named(i)}
		return call{tool: tool, args: args, want: strings.ReplaceAll(want, "{}", named(i)), asks: times}
	}
}

func confirmDelete(want string) func(i int) call { return asks("confirm_delete", "filename", want, 1) }

func slowCompute(seconds float64) func(i int) call {
	return func(i int) call {
		return call{tool: "slow_compute", args: map[string]any{"seconds": seconds, "label": named(i)}, want: named(i) + " done"}
	}
}

func failingJob(i int) call {
	return call{tool: "failing_job", args: map[string]any{"label": named(i)}, want: "the job went wrong"}
}

func operation(seconds float64) func(i int) call {
	return func(i int) call {
		args := map[string]any{"duration": seconds + float64(i)/10_000, "steps": 2}
		return call{tool: "trigger-long-running-operation", args: args, want: "Long running operation completed"}
	}
}

func badReference(i int) call {
	args := map[string]any{"resourceType": "Text", "resourceId": -1 - i}
	return call{tool: "get-resource-reference", args: args, want: "Invalid resourceId"}
}
