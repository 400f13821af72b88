package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// The size of the second part. With these it ends in little more than two seconds.
const (
	napTime    = 1500 * time.Millisecond // longer than what progress is held back for
	queueCalls = 4
	queueTime  = 500 * time.Millisecond
)

// sleepRule is the rule that the second part shows, as it is printed and as berth gets it.
const sleepRule = `[[upgrade]]
tools = ["sleep"]
poll_interval = "100ms"
concurrency = 1
`

// upgraded is what a rule makes of a tool that knows nothing of tasks.
type upgraded struct {
	plain  showing // one call, without the rule
	ruled  showing // one call, with it
	queued showing // queueCalls at once, with it
}

// runUpgraded makes the calls, each showing over a server and through a front of its own.
func runUpgraded(ctx context.Context, front Front) (u upgraded, err error) {
	group, ctx := errgroup.WithContext(ctx)
	run := func(into *showing, rules string, calls int, d time.Duration) {
		group.Go(func() (err error) {
			*into, err = runShowing(ctx, front, rules, calls, d)
			return err
		})
	}
	run(&u.plain, "", 1, napTime)
	run(&u.ruled, sleepRule, 1, napTime)
	run(&u.queued, sleepRule, queueCalls, queueTime)
	return u, group.Wait()
}

// err is nil if all of that is as the rule says.
func (u upgraded) err() error {
	if err := u.plain.err(false); err != nil {
		return fmt.Errorf("without a rule: %w", err)
	}
	if err := u.ruled.err(true); err != nil {
		return fmt.Errorf("with a rule: %w", err)
	}
	if len(u.ruled.naps[0].progress()) == 0 {
		return fmt.Errorf("with a rule: %w how far the tool is", ErrUntold)
	}
	if err := u.queueErr(); err != nil {
		return fmt.Errorf("%d calls at once: %w", queueCalls, err)
	}
	return nil
}

func (u upgraded) queueErr() error {
	if err := u.queued.err(true); err != nil {
		return err
	}
	if u.queued.atOnce != 1 {
		return fmt.Errorf("%w: %d at a time", ErrOverrun, u.queued.atOnce)
	}
	waited := false
	for _, n := range u.queued.naps {
		places := n.places()
		waited = waited || len(places) > 0
		if !slices.IsSortedFunc(places, func(a, b int) int { return b - a }) {
			return fmt.Errorf("%w: places %v", ErrUntold, places)
		}
	}
	if !waited {
		return fmt.Errorf("%w who waits", ErrUntold)
	}
	return nil
}
