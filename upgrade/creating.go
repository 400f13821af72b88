package upgrade

import (
	"context"
	"time"

	"berth/upgrade/ledger"
)

const (
	// createAtOnce is how many creations a berth has under way at its store. Of a burst the
	// first have their handles early, and the store is well throughout.
	createAtOnce = 32

	// createWait is how long a call waits until its creation begins: less than what
	// clients wait for an answer.
	createWait = 10 * time.Second
)

// creating are the places of creations that are under way, in a channel as large.
type creating chan struct{}

// enter waits for a place, in the order of arrival.
func (c creating) enter(ctx context.Context) error {
	select {
	case c <- struct{}{}:
		return nil
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, createWait)
	defer cancel()
	select {
	case c <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ledger.Unavailable(context.Cause(ctx))
	}
}

func (c creating) leave() { <-c }
