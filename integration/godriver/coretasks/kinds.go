package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// pollEvery is for tasks that say nothing of their interval.
const pollEvery = 100 * time.Millisecond

// waited waits by polls until the task asks or ends, and then for its result.
func waited(ctx context.Context, s *session, call call) error {
	task, err := s.create(ctx, call)
	if err != nil {
		return err
	}
	for status := task.Status; status == mcp.TaskStatusWorking; {
		time.Sleep(pollEvery)
		if status, err = s.get(ctx, task.TaskId); err != nil {
			return err
		}
	}
	return s.wantResult(ctx, task.TaskId, call, mcp.TaskStatusCompleted)
}

// awaited asks for the result at once.
func awaited(ctx context.Context, s *session, call call) error {
	task, err := s.create(ctx, call)
	if err != nil {
		return err
	}
	return s.wantResult(ctx, task.TaskId, call, mcp.TaskStatusCompleted)
}

func failed(ctx context.Context, s *session, call call) error {
	task, err := s.create(ctx, call)
	if err != nil {
		return err
	}
	got, err := s.client.WaitForTask(ctx, mcp.GetTaskRequest{Params: mcp.GetTaskParams{TaskId: task.TaskId}}, pollEvery)
	if s.poll(err) != nil {
		return err
	}
	if got.Status != mcp.TaskStatusFailed {
		return fmt.Errorf("ended %s, want failed", got.Status)
	}
	return s.wantResult(ctx, task.TaskId, call, mcp.TaskStatusFailed)
}

// wantResult fetches a result and what its task has become.
func (s *session) wantResult(ctx context.Context, id string, call call, status mcp.TaskStatus) error {
	got, err := s.result(ctx, id)
	if err != nil {
		return err
	}
	if text := textOf(got.Content); !strings.Contains(text, call.want) {
		return fmt.Errorf("answered with %q, want %q", text, call.want)
	}
	if got.IsError != (status == mcp.TaskStatusFailed) {
		return fmt.Errorf("isError: got %v of a task that %s", got.IsError, status)
	}
	if asked := s.asked.Load(); asked != call.asks {
		return fmt.Errorf("asked back %d times, want %d", asked, call.asks)
	}
	became, err := s.get(ctx, id)
	if err == nil && became != status {
		err = fmt.Errorf("ended %s, want %s", became, status)
	}
	return err
}

func cancelled(ctx context.Context, s *session, call call) error {
	task, err := s.create(ctx, call)
	if err != nil {
		return err
	}
	answer, err := s.cancel(ctx, task.TaskId)
	if err != nil {
		return err
	}
	became, err := s.get(ctx, task.TaskId)
	if err != nil {
		return err
	}
	if answer != mcp.TaskStatusCancelled || became != mcp.TaskStatusCancelled {
		return fmt.Errorf("became %s, then %s, want cancelled", answer, became)
	}
	if _, err := s.result(ctx, task.TaskId); !errors.Is(err, mcp.ErrInternalError) {
		return fmt.Errorf("result of a cancelled task: got %w, want an internal error", err)
	}
	if _, err := s.cancel(ctx, task.TaskId); !errors.Is(err, mcp.ErrInvalidParams) {
		return fmt.Errorf("cancelling it again: got %w, want it refused", err)
	}
	return nil
}

func textOf(content []mcp.Content) string {
	if len(content) == 0 {
		return ""
	}
	text, ok := content[0].(mcp.TextContent)
	if !ok {
		return fmt.Sprintf("content of type %T", content[0])
	}
	return text.Text
}
