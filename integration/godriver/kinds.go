package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	mcp "trpc.group/trpc-go/trpc-mcp-go"
)

// patience is how long a call waits for its job before it cancels it: a few
// polls on a busy machine, and nothing of the job's minute.
const patience = 4 * time.Second

func job(ctx context.Context, s *session, i int) error {
	label := fmt.Sprintf("go-job-%d", i)
	got, err := s.call(ctx, "slow_compute", map[string]any{"seconds": 0.4, "label": label})
	if err != nil {
		return err
	}
	return want(got, label+" done")
}

func input(ctx context.Context, s *session, i int) error {
	file := fmt.Sprintf("go-file-%d", i)
	_, err := s.call(ctx, "confirm_delete", map[string]any{"filename": file})
	var asked *mcp.TaskError
	if !errors.As(err, &asked) || asked.Status != "input_required" {
		return fmt.Errorf("want a task that asks for input: %w", err)
	}
	answers := map[string]any{}
	for key := range asked.InputRequests {
		answers[key] = map[string]any{"action": "accept", "content": map[string]any{"confirm": true}}
	}
	if err := s.client.UpdateTask(ctx, asked.ID, answers); err != nil {
		return err
	}
	result, err := s.client.ResumeToolTask(ctx, asked.ID)
	if err != nil {
		return err
	}
	return want(text(result), file+" deleted")
}

func cancelled(ctx context.Context, s *session, i int) error {
	waiting, stop := context.WithTimeout(ctx, patience)
	defer stop()
	_, err := s.call(waiting, "slow_compute", map[string]any{"seconds": 60, "label": fmt.Sprintf("go-long-%d", i)})
	var task *mcp.TaskError
	if !errors.As(err, &task) || task.ID == "" || !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("want a task that outlasts %v: %w", patience, err)
	}
	if err := s.client.CancelTask(ctx, task.ID); err != nil {
		return err
	}
	_, err = s.client.ResumeToolTask(ctx, task.ID)
	if !errors.As(err, &task) || task.Status != "cancelled" {
		return fmt.Errorf("want a cancelled task: %w", err)
	}
	return nil
}

func want(got, prefix string) error {
	if strings.HasPrefix(got, prefix) {
		return nil
	}
	return fmt.Errorf("answered with %q, want %q", got, prefix)
}
