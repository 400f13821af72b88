package storage

import (
	"context"
	"time"
)

type withinKey struct{}

// Within returns a context under which each operation may take that long once it has its
// turn. A deadline of the context counts the wait for the turn as well.
func Within(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, withinKey{}, d)
}

// Begun is the context of an operation whose turn has come.
func Begun(ctx context.Context) (context.Context, context.CancelFunc) {
	if d, ok := ctx.Value(withinKey{}).(time.Duration); ok {
		return context.WithTimeout(ctx, d)
	}
	return ctx, func() {}
}
