package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is one of the suite's tools.
type tool struct {
	name, about string
	input       json.RawMessage
	run         mcp.ToolHandler
}

var tools = []tool{
	{"greet", "greets at once", takes("name"), greet},
	{"slow_compute", "takes so many seconds", json.RawMessage(
		`{"type":"object","properties":{"seconds":{"type":"number"},"label":{"type":"string"}}}`), slowCompute},
	{"failing_job", "goes wrong", takes("label"), failingJob},
	{"protocol_error_job", "breaks", takes("label"), protocolErrorJob},
	{"confirm_delete", "asks before it deletes", takes("filename"), confirmDelete},
	{"multi_input", "asks two things at once", takes("label"), multiInput},
	{"test_tool_with_task", "asks for a name, then takes its time", takes("label"), greetSlowly},
}

// takes is the schema of a tool with one text as its argument.
func takes(argument string) json.RawMessage {
	return fmt.Appendf(nil, `{"type":"object","properties":{%q:{"type":"string"}}}`, argument)
}

const (
	// jobTakes is the time of a job that ends badly: long enough to be waited for.
	jobTakes = 200 * time.Millisecond

	// secondRoundTakes is longer than a proxy that hands out tasks for this tool may
	// wait for its answer; the suite waits ten seconds for the task.
	secondRoundTakes = 3 * time.Second

	// progressEvery is how often slow_compute says how far it is.
	progressEvery = 200 * time.Millisecond
)

func greet(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var args struct{ Name string }
	if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
		return nil, invalid(err)
	}
	return text("Hello, %s!", args.Name), nil
}

func slowCompute(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var args struct {
		Seconds float64
		Label   string
	}
	if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
		return nil, invalid(err)
	}
	job := progress{req: req, total: args.Seconds, label: args.Label}
	if err := job.work(ctx); err != nil {
		return nil, err
	}
	return text("%s done", args.Label), nil
}

func failingJob(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if err := pause(ctx, jobTakes); err != nil {
		return nil, err
	}
	result := text("the job went wrong")
	result.IsError = true
	return result, nil
}

func protocolErrorJob(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if err := pause(ctx, jobTakes); err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the job broke"}
}

// pause takes d, or less if the call is withdrawn.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func text(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

func invalid(err error) error {
	var refused *jsonrpc.Error
	if errors.As(err, &refused) {
		return refused
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
}
