package redis

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// missesToShorten in a row are of replicas that do not follow, not of one that was late.
	missesToShorten = 3

	// shortened is the part of the time for replicas that a write has then, unless it is the one that looks whether
	// they follow again: those that wait keep their connections from others.
	shortened = 16
)

// waiter is a hook of one server's client that sends WAIT behind each write, in one pipeline, for
// WAIT answers for its connection; also where the driver follows a redirection.
type waiter struct {
	client   *redis.Client
	replicas int
	timeout  time.Duration // of WAIT; shorter than that of the connection
	lag      *lag
}

func (w waiter) follow(client *redis.Client) {
	if w.replicas > 0 {
		w.client, w.lag = client, new(lag)
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
				return w.waitAfter(ctx, next, cmds, one)
			}
		}
		return next(ctx, cmds)
	}
}

func (w waiter) waitAfter(ctx context.Context, next redis.ProcessPipelineHook, cmds []redis.Cmder, one *write) error {
	whole := w.lag.begin()
	timeout := w.timeout
	if !whole {
		timeout = max(timeout/shortened, time.Millisecond) // 0 would be for ever
	}
	one.wait = redis.NewIntCmd(ctx, "wait", w.replicas, timeout.Milliseconds())
	err := next(ctx, append(cmds[:len(cmds):len(cmds)], one.wait))
	w.lag.end(whole, w.replicated(one.wait))
	return err
}

// waited is what WAIT tells of a write.
type waited uint8

const (
	waitUntold waited = iota // there is no answer
	waitShort                // too few replicas have it
	waitEnough               // enough have it
)

// replicated reads the answer to WAIT.
func (w waiter) replicated(wait *redis.IntCmd) waited {
	switch have, err := wait.Result(); {
	case err != nil:
		return waitUntold
	case have < int64(w.replicas):
		return waitShort
	}
	return waitEnough
}

// lag is what a server's replicas are known to owe. The zero value owes nothing.
type lag struct {
	mu     sync.Mutex // guards the fields below
	misses int        // in a row, of writes that had the whole time
	whole  int        // writes under way that have it
}

// begin reports whether a write has the whole time for replicas. While they do not follow one at a time has.
func (l *lag) begin() (whole bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.misses >= missesToShorten && l.whole > 0 {
		return false
	}
	l.whole++
	return true
}

// end takes in what was told of a write that began with whole.
func (l *lag) end(whole bool, told waited) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if whole {
		l.whole--
	}
	switch {
	case told == waitEnough:
		l.misses = 0
	case told == waitShort && whole:
		l.misses++
	}
}
