package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// protocolVersion is the one that has core tasks.
const protocolVersion = "2025-11-25"

// session is one connected client, the polls that it sent, and what it was asked. It
// answers all that it is asked.
type session struct {
	client *client.Client
	polls  atomic.Int64
	lost   atomic.Bool // a poll got no answer
	asked  atomic.Int64
}

func connect(ctx context.Context, url string) (*session, error) {
	// The standing stream is where the server may say how tasks go.
	wire, err := transport.NewStreamableHTTP(url, transport.WithContinuousListening())
	if err != nil {
		return nil, err
	}
	s := new(session)
	s.client = client.NewClient(wire, client.WithProtocolVersion(protocolVersion),
		client.WithElicitationHandler(s), client.WithSamplingHandler(s))
	// The client listens for as long as this context lasts.
	if err := s.client.Start(ctx); err != nil {
		return nil, err
	}
	var initialize mcp.InitializeRequest
	initialize.Params.ProtocolVersion = protocolVersion
	initialize.Params.ClientInfo = mcp.Implementation{Name: "coretasks", Version: "1.0.0"}
	got, err := s.client.Initialize(ctx, initialize)
	if err != nil {
		return nil, err
	}
	if tasks := got.Capabilities.Tasks; tasks == nil || tasks.Requests == nil || tasks.Requests.Tools == nil || tasks.Requests.Tools.Call == nil {
		return nil, errors.New("the server does not announce tasks of tools")
	}
	return s, nil
}

// create makes a task of a call. The client's own CallTool sends the request as it must
// be, and then takes a task for a result that lacks its content.
func (s *session) create(ctx context.Context, call call) (mcp.Task, error) {
	ttl := int64(60_000)
	params := mcp.CallToolParams{Name: call.tool, Arguments: call.args, Task: &mcp.TaskParams{TTL: &ttl}}
	answer, err := s.client.GetTransport().SendRequest(ctx, transport.JSONRPCRequest{
		JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId("create"), Method: string(mcp.MethodToolsCall), Params: params,
	})
	if err != nil {
		return mcp.Task{}, err
	}
	if answer.Error != nil {
		return mcp.Task{}, answer.Error.AsError()
	}
	var created mcp.CreateTaskResult
	if err := json.Unmarshal(answer.Result, &created); err != nil {
		return mcp.Task{}, err
	}
	if created.Task.TaskId == "" || created.Task.TTL == nil || *created.Task.TTL != ttl {
		return mcp.Task{}, fmt.Errorf("want a task with the ttl asked for, got %s", answer.Result)
	}
	return created.Task, nil
}

// poll counts a request about a task.
func (s *session) poll(err error) error {
	s.polls.Add(1)
	if err != nil && !answered(err) {
		s.lost.Store(true)
	}
	return err
}

// answered tells an error that the server gave from no answer.
func answered(err error) bool {
	return errors.Is(err, mcp.ErrInternalError) || errors.Is(err, mcp.ErrInvalidParams)
}

func (s *session) get(ctx context.Context, id string) (mcp.TaskStatus, error) {
	got, err := s.client.GetTask(ctx, mcp.GetTaskRequest{Params: mcp.GetTaskParams{TaskId: id}})
	if s.poll(err) != nil {
		return "", fmt.Errorf("tasks/get: %w", err)
	}
	return got.Status, nil
}

func (s *session) cancel(ctx context.Context, id string) (mcp.TaskStatus, error) {
	got, err := s.client.CancelTask(ctx, mcp.CancelTaskRequest{Params: mcp.CancelTaskParams{TaskId: id}})
	if s.poll(err) != nil {
		return "", fmt.Errorf("tasks/cancel: %w", err)
	}
	return got.Status, nil
}

func (s *session) result(ctx context.Context, id string) (*mcp.TaskResultResult, error) {
	got, err := s.client.TaskResult(ctx, mcp.TaskResultRequest{Params: mcp.TaskResultParams{TaskId: id}})
	if s.poll(err) != nil {
		return nil, fmt.Errorf("tasks/result: %w", err)
	}
	return got, nil
}

// Elicit fills in what the servers ask for.
func (s *session) Elicit(context.Context, mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	s.asked.Add(1)
	content := map[string]any{"confirm": true, "name": "given", "username": "given"}
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: "accept", Content: content}}, nil
}

// CreateMessage says what it was told.
func (s *session) CreateMessage(_ context.Context, request mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	s.asked.Add(1)
	if len(request.Messages) == 0 {
		return nil, errors.New("no message to answer")
	}
	echo := mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: request.Messages[0].Content}
	return &mcp.CreateMessageResult{SamplingMessage: echo, Model: "echo"}, nil
}
