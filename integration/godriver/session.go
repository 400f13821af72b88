package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	mcp "trpc.group/trpc-go/trpc-mcp-go"
)

// session is one connected client and the polls that it sent.
type session struct {
	client *mcp.Client
	polls  atomic.Int64
}

func connect(ctx context.Context, url string) (*session, error) {
	s := new(session)
	client, err := mcp.NewClient(url, mcp.Implementation{Name: "godriver", Version: "1.0.0"},
		mcp.WithProtocolVersion(mcp.ProtocolVersion_2026_07_28),
		mcp.WithTasks(true),
		mcp.WithHTTPReqHandler(s),
	)
	if err != nil {
		return nil, err
	}
	s.client = client
	_, err = client.Initialize(ctx, nil)
	return s, err
}

// Handle sends a request of the client library and counts it if it is a poll.
func (s *session) Handle(_ context.Context, client *http.Client, req *http.Request) (*http.Response, error) {
	if strings.HasPrefix(req.Header.Get("Mcp-Method"), "tasks/") {
		s.polls.Add(1)
	}
	if err := declareElicitation(req); err != nil {
		return nil, err
	}
	return client.Do(req)
}

// declareElicitation adds to a request what its client takes: the library hands out what a
// task asks, and has no way to declare that.
func declareElicitation(req *http.Request) error {
	if req.Body == nil {
		return nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	body = bytes.Replace(body, []byte(`"extensions":{"io.modelcontextprotocol/tasks"`), []byte(`"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks"`), 1)
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return nil
}

// call makes one call of a tool and returns the text of its result.
func (s *session) call(ctx context.Context, tool string, arguments map[string]any) (string, error) {
	request := new(mcp.CallToolRequest)
	request.Params.Name = tool
	request.Params.Arguments = arguments
	result, err := s.client.CallTool(ctx, request)
	return text(result), err
}

func text(result *mcp.CallToolResult) string {
	if result == nil || len(result.Content) == 0 {
		return ""
	}
	content, ok := result.Content[0].(mcp.TextContent)
	if !ok {
		return fmt.Sprintf("content of type %T", result.Content[0])
	}
	return content.Text
}

// lost tells a poll that nobody answered for from a task that went its way:
// only the latter has a status.
func lost(err error) bool {
	var task *mcp.TaskError
	return errors.As(err, &task) && task.ID != "" && task.Status == ""
}
