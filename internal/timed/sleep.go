package timed

import (
	"context"
	"time"
)

// Sleep waits for d. It fails with the cause of ctx's end where that comes first, or has come.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
