package engine

import (
	"context"
	"errors"
	"time"

	"berth/internal/timed"
)

type withinKey struct{}

// within is what a context says of each operation.
type within struct {
	time  time.Duration // it has so much, once it has its turn; 0: as much as any
	alone bool          // it goes by itself
}

// Within bounds each operation once it has its turn. A deadline of the context counts the wait for
// that as well.
func Within(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, withinKey{}, within{time: d})
}

// Alone is ctx for an operation that is to go with no other one.
func Alone(ctx context.Context) context.Context {
	in, _ := ctx.Value(withinKey{}).(within)
	in.alone = true
	return context.WithValue(ctx, withinKey{}, in)
}

// Begun is the context of an operation whose turn has come.
func Begun(ctx context.Context) (context.Context, context.CancelFunc) {
	if in, ok := ctx.Value(withinKey{}).(within); ok && in.time > 0 {
		return timed.Within(ctx, in.time)
	}
	return ctx, func() {}
}

// ErrAshore says that an operation went by no trip, and is to go by itself.
var ErrAshore = errors.New("storage: nothing was sent")

// Bounds are what ctx says of an operation: how long it has once it has its turn (0: as long as any), and whether it goes by itself.
func Bounds(ctx context.Context) (time time.Duration, alone bool) {
	in, _ := ctx.Value(withinKey{}).(within)
	return in.time, in.alone
}
