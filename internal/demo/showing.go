package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"berth/internal/demo/fleet"
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

// A showing is calls of the tool that sleeps, made at once through one front.
type showing struct {
	naps   []nap // the failed ones, then in the order of their ends
	runs   int   // of the tool, as its server counts
	atOnce int   // of these, at most
}

// runShowing makes so many calls of length d through what front makes of rules, over a
// server that knows nothing of tasks.
func runShowing(ctx context.Context, front Front, rules string, calls int, d time.Duration) (showing, error) {
	server := &fleet.Sleeper{Name: upstreamNames[0]}
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
	transport := &http.Transport{MaxIdleConnsPerHost: calls}
	defer transport.CloseIdleConnections()
	c := &Client{URL: before.URL.String(), HTTP: &http.Client{Transport: transport}}
	return showing{takeNaps(ctx, c, calls, d), server.Runs(), server.AtOnce()}, nil
}

// takeNaps makes so many calls at once, and waits for all.
func takeNaps(ctx context.Context, c *Client, calls int, d time.Duration) []nap {
	ctx, cancel := context.WithTimeout(ctx, trialLimit)
	defer cancel()
	naps := make([]nap, calls)
	var under sync.WaitGroup
	for i := range naps {
		under.Go(func() { naps[i] = c.nap(ctx, fmt.Sprintf("nap %d", i), d) })
	}
	under.Wait()
	slices.SortFunc(naps, func(a, b nap) int { return cmp.Compare(a.whole, b.whole) })
	return naps
}

func (s showing) right() (n int) {
	for _, nap := range s.naps {
		if nap.Err == nil {
			n++
		}
	}
	return n
}

// err is nil if every call came back right, as a task or not, and the tool ran once for
// each.
func (s showing) err(handed bool) error {
	for _, n := range s.naps {
		switch {
		case n.Err != nil:
			return fmt.Errorf("demo: sleep: %w", n.Err)
		case n.handed != handed:
			return fmt.Errorf("%w: got a task: %v, want %v", ErrWrongAnswer, n.handed, handed)
		}
	}
	if s.runs != len(s.naps) {
		return fmt.Errorf("%w: %d times for %d calls", ErrOverrun, s.runs, len(s.naps))
	}
	return nil
}
