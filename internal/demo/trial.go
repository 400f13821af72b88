package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
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
type trial struct {
	outcomes []Outcome
	tallies  []tally
}

// runTrial sends callsPerKind tool calls of every kind through the front at
// url, some at a time and the kinds mixed, and asks the upstreams afterwards.
func runTrial(ctx context.Context, url string, behind *upstreams) trial {
	ctx, cancel := context.WithTimeout(ctx, trialLimit)
	defer cancel()
	transport := &http.Transport{MaxIdleConnsPerHost: concurrency}
	defer transport.CloseIdleConnections()
	outcomes := make([]Outcome, callsPerKind*len(kinds))
	slots := make(chan struct{}, concurrency)
	var calls sync.WaitGroup
	for i := range outcomes {
		slots <- struct{}{}
		calls.Go(func() {
			defer func() { <-slots }()
			c := Client{URL: url, HTTP: &http.Client{Transport: transport}, Kind: kinds[i%len(kinds)]}
			outcomes[i] = c.Compute(ctx, fmt.Sprintf("job %d", i), workTime)
		})
	}
	calls.Wait()
	return trial{outcomes: outcomes, tallies: behind.tallies()}
}

func (t trial) polls() (sent, lost int) {
	for _, o := range t.outcomes {
		sent += o.Polls
		lost += o.Lost
	}
	return sent, lost
}

func (t trial) tasks() (made int) {
	for _, u := range t.tallies {
		made += u.tasks
	}
	return made
}

func (t trial) sessionsLost() (n int) {
	for _, o := range t.outcomes {
		if errors.Is(o.Err, ErrSessionLost) {
			n++
		}
	}
	return n
}

// right counts the calls of a kind that came back right, and all of that kind.
func (t trial) right(k Kind) (right, all int) {
	for _, o := range t.outcomes {
		if o.Kind != k {
			continue
		}
		all++
		if o.Err == nil {
			right++
		}
	}
	return right, all
}

func (t trial) rightInAll() (right int) {
	for _, k := range kinds {
		n, _ := t.right(k)
		right += n
	}
	return right
}

// err is nil if every call came back right and no poll was lost.
func (t trial) err() error {
	var failed []error
	for _, o := range t.outcomes {
		if o.Err != nil {
			failed = append(failed, fmt.Errorf("%v: %w", o.Kind, o.Err))
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("demo: %d of %d tool calls failed, the first: %w", len(failed), len(t.outcomes), failed[0])
}
