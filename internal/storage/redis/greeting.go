package redis

import (
	"context"
	"errors"

	"berth/internal/storage/engine"

	"github.com/redis/go-redis/v9"
)

// greeting is a hook of one server's client that has a connection fail with the words of a server that turns it away. The driver takes
// any refusal of the HELLO that it begins with for that of an older server, goes on, and tells that the connection was cut.
type greeting struct{}

// DialHook implements redis.Hook.
func (greeting) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (greeting) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if err != nil && cmd.Args()[0] == "hello" && isAnswer(err) && lookup(err.Error()).reason == engine.ReasonRefused {
			err = errors.New(err.Error()) // no answer, for the driver
			cmd.SetErr(err)
		}
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (greeting) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
