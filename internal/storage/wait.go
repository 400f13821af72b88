package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// errUnreplicated means that the master has a write and too few replicas do.
var errUnreplicated = errors.New("written, and not known to be replicated")

type write struct {
	once
	answer *redis.Cmd    // the script's
	wait   *redis.IntCmd // how many replicas have the write; nil: nobody asked
}

func newWrite(cmd *redis.Cmd) *write { return &write{once: once{cmd}, answer: cmd} }

func (w *write) confirmed(replicas int) error {
	if replicas == 0 {
		return nil
	}
	if w.wait == nil {
		return errUnreplicated
	}
	if err := w.wait.Err(); err != nil {
		return err
	}
	if have := w.wait.Val(); have < int64(replicas) {
		return fmt.Errorf("%w: %d of %d replicas have it", errUnreplicated, have, replicas)
	}
	return nil
}

// waiter is a hook of the client of one server: it has each write followed by WAIT,
// in one pipeline, for WAIT answers for the connection that it comes in on. As a hook
// it is also there where the driver follows a redirection within a cluster.
type waiter struct {
	client   *redis.Client
	replicas int
	timeout  time.Duration // of WAIT; shorter than that of the connection
}

// waitShare is how much of the time for an answer WAIT may take: what is left is for the
// write before it and for the line, so that "too few" is told apart from silence.
func waitShare(answer time.Duration) time.Duration { return answer * 3 / 5 }

func (w waiter) follow(client *redis.Client) {
	if w.replicas > 0 {
		w.client = client
		client.AddHook(w)
	}
}

// DialHook implements redis.Hook.
func (w waiter) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook: it makes a pipeline of a write.
func (w waiter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		one, ok := cmd.(*write)
		if !ok {
			return next(ctx, cmd)
		}
		one.SetErr(nil) // of the server that it was redirected by
		_, _ = w.client.Pipelined(ctx, func(p redis.Pipeliner) error { return p.Process(ctx, one) })
		return one.Err() // that of WAIT is for confirmed
	}
}

// ProcessPipelineHook implements redis.Hook: it lets WAIT follow the pipeline's write.
func (w waiter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			if one, ok := cmd.(*write); ok {
				one.wait = redis.NewIntCmd(ctx, "wait", w.replicas, w.timeout.Milliseconds())
				return next(ctx, append(cmds[:len(cmds):len(cmds)], one.wait))
			}
		}
		return next(ctx, cmds)
	}
}
