package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"berth/internal/mcptest"

	"golang.org/x/sync/errgroup"
)

// Why a tool that knows nothing of tasks was not treated as its rule says.
var (
	// ErrWrongAnswer: a task without a rule, or none with it.
	ErrWrongAnswer = errors.New("demo: wrong answer to the call")
	// ErrUntold: the polls did not say how the call gets on.
	ErrUntold = errors.New("demo: the polls do not tell")
	// ErrOverrun: the tool ran more often, or more at a time, than it may.
	ErrOverrun = errors.New("demo: the tool ran too often")
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

// A showing is calls of the tool that sleeps, made at once through one front.
type showing struct {
	naps   []Outcome // in the order of their waits
	runs   int       // of the tool, as its server counts
	atOnce int       // of these, at most
}

// runShowing makes so many calls of length d through what front makes of rules, over a
// server that knows nothing of tasks.
func runShowing(ctx context.Context, front Front, rules string, calls int, d time.Duration) (showing, error) {
	server := &mcptest.Sleeper{Name: upstreamNames[0]}
	behind, err := startHost(server)
	if err != nil {
		return showing{}, err
	}
	defer behind.Close()
	before, end, err := front.start(map[string]string{server.Name: behind.URL.String()}, rules)
	if err != nil {
		return showing{}, err
	}
	defer end()
	c := &Client{URL: before.URL.String(), HTTP: newHTTPClient()}
	defer c.HTTP.CloseIdleConnections()
	return showing{takeNaps(ctx, c, calls, d), server.Runs(), server.AtOnce()}, nil
}

// takeNaps makes so many calls at once, and waits for all.
func takeNaps(ctx context.Context, c *Client, calls int, d time.Duration) []Outcome {
	naps := callAll(ctx, calls, func(ctx context.Context, i int) Outcome {
		return c.Call(ctx, "sleep", fmt.Sprintf("nap %d", i), d)
	})
	slices.SortFunc(naps, func(a, b Outcome) int { return cmp.Compare(len(a.places()), len(b.places())) })
	return naps
}

// err is nil if every call came back right, as a task or not, and the tool ran once for
// each.
func (s showing) err(handed bool) error {
	for _, n := range s.naps {
		switch {
		case n.Err != nil:
			return fmt.Errorf("demo: sleep: %w", n.Err)
		case n.Handed != handed:
			return fmt.Errorf("%w: got a task: %v, want %v", ErrWrongAnswer, n.Handed, handed)
		}
	}
	if s.runs != len(s.naps) {
		return fmt.Errorf("%w: %d times for %d calls", ErrOverrun, s.runs, len(s.naps))
	}
	return nil
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
