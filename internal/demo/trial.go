package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// The size of a trial. With these it ends in under two seconds.
const (
	callsPerKind = 10
	concurrency  = 10
	workTime     = 400 * time.Millisecond
	pollInterval = 80 * time.Millisecond

	// trialLimit ends a trial whose front answers too slowly or never.
	trialLimit = 20 * time.Second
)

// A trial is the traffic of all kinds of clients through one front.
type trial []Outcome

// runTrial sends callsPerKind tool calls of every kind through the front at url, the
// kinds mixed.
func runTrial(ctx context.Context, url string) trial {
	through := newHTTPClient()
	defer through.CloseIdleConnections()
	return callAll(ctx, callsPerKind*len(kinds), func(ctx context.Context, i int) Outcome {
		c := Client{URL: url, HTTP: through, Kind: kinds[i%len(kinds)]}
		out := c.Call(ctx, "slow_compute", fmt.Sprintf("job %d", i), workTime)
		if out.Err == nil && !out.Handed {
			out.Err = fmt.Errorf("%w: no task was made", ErrWrongResult)
		}
		return out
	})
}

// newHTTPClient has connections for all calls that are made at a time.
func newHTTPClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: concurrency}}
}

// callAll makes n calls, some at a time, and waits for all.
func callAll(ctx context.Context, n int, call func(ctx context.Context, i int) Outcome) []Outcome {
	ctx, cancel := context.WithTimeout(ctx, trialLimit)
	defer cancel()
	outcomes := make([]Outcome, n)
	var calls errgroup.Group
	calls.SetLimit(concurrency)
	for i := range outcomes {
		calls.Go(func() error {
			outcomes[i] = call(ctx, i)
			return nil
		})
	}
	_ = calls.Wait() // each outcome has its own error
	return outcomes
}

// polls counts those sent, and those lost.
func (t trial) polls() (sent, lost int) {
	for _, o := range t {
		sent += o.Polls
		lost += o.Lost
	}
	return sent, lost
}

// failed counts the calls that ended with an error that is what; nil is any.
func (t trial) failed(what error) (n int) {
	for _, o := range t {
		if o.Err != nil && (what == nil || errors.Is(o.Err, what)) {
			n++
		}
	}
	return n
}

// err is nil if every call came back right.
func (t trial) err() error {
	for _, o := range t {
		if o.Err != nil {
			return fmt.Errorf("demo: %d of %d tool calls failed, the first: %v: %w", t.failed(nil), len(t), o.Kind, o.Err)
		}
	}
	return nil
}
