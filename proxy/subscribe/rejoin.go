package subscribe

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"berth/routing"
)

// Joining an upstream again.
const (
	rejoinFirst = 500 * time.Millisecond
	rejoinMost  = 15 * time.Second
	stoodLong   = 15 * time.Second // after which the next break counts as the first
)

// keepJoined calls serve, which joins an upstream's subscription and stays until it is
// lost, again and again: until ctx ends, or the upstream refuses it. lost hears of each
// loss before the pause that follows it. u nil stands for any upstream of pool.
func keepJoined(ctx context.Context, pool *routing.Pool, u *routing.Upstream, serve func() error, lost func(err error)) {
	for attempt := 0; ; attempt++ {
		began := time.Now()
		err := serve()
		if ctx.Err() != nil {
			return
		}
		lost(err)
		if errors.Is(err, errTasksOver) {
			return
		}
		if refusal, ok := errors.AsType[*Refusal](err); ok && !refusal.passing() {
			return
		}
		if time.Since(began) > stoodLong {
			attempt = 0
		}
		if !pauseToRejoin(ctx, pool, u, attempt) {
			return
		}
	}
}

// pauseToRejoin waits before an upstream is joined again: while it is silent, and a
// while that grows and differs, so that a thousand subscriptions do not come back to a
// server that has just begun in the same moment.
func pauseToRejoin(ctx context.Context, pool *routing.Pool, u *routing.Upstream, attempt int) bool {
	if u != nil && !awaitAnswering(ctx, pool, u) {
		return false
	}
	wait := min(rejoinFirst<<min(attempt, 10), rejoinMost)
	timer := time.NewTimer(wait/2 + rand.N(wait/2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// awaitAnswering waits until u, as pool has it by then, is not silent.
func awaitAnswering(ctx context.Context, pool *routing.Pool, u *routing.Upstream) bool {
	for {
		_, replaced := pool.Watched()
		select {
		case <-present(pool, u).Answering():
			return true
		case <-replaced:
		case <-ctx.Done():
			return false
		}
	}
}
