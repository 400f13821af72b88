package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Options say what Run puts before the fleet.
type Options struct {
	// Once ends Run after the reports, with an error if anything was lost
	// through berth, or a rule was not kept. The zero value keeps the fleet and
	// berth up until the context ends.
	Once bool

	// Front makes each berth. Required.
	Front Front
}

// Run drives the trial through berth and through a round robin, each over a
// fresh fleet on free loopback ports, and then calls a tool that knows nothing
// of tasks, with a rule and without. It prints all that to w. It takes four to
// six seconds; see [Options.Once] for what follows.
func Run(ctx context.Context, w io.Writer, opts Options) error {
	if err := writeIntro(w); err != nil {
		return fmt.Errorf("demo: print: %w", err)
	}
	behind, err := startUpstreams(pollInterval)
	if err != nil {
		return err
	}
	defer behind.Close()
	front, end, err := opts.Front.start(behind.byName(), "")
	if err != nil {
		return err
	}
	defer end()

	berth := runTrial(ctx, front.URL.String(), behind)
	robin, err := runRoundRobin(ctx)
	if err := errors.Join(err, context.Cause(ctx)); err != nil {
		return err
	}
	if err := writeReport(w, berth, robin); err != nil {
		return fmt.Errorf("demo: print the report: %w", err)
	}
	upgraded, err := showUpgraded(ctx, w, opts.Front)
	if err != nil {
		return err
	}
	if opts.Once {
		return errors.Join(berth.err(), upgraded.err())
	}
	return stay(ctx, w, front.URL.String())
}

// runRoundRobin is the comparison: the same trial, another fleet.
func runRoundRobin(ctx context.Context) (trial, error) {
	behind, err := startUpstreams(pollInterval)
	if err != nil {
		return trial{}, err
	}
	defer behind.Close()
	transport := &http.Transport{MaxIdleConnsPerHost: concurrency}
	defer transport.CloseIdleConnections()
	front, err := startHost(NewRoundRobin(transport, behind.urls()...))
	if err != nil {
		return trial{}, err
	}
	defer front.Close()
	return runTrial(ctx, front.URL.String(), behind), nil
}

// showUpgraded is the second part: it says what is about to happen, and then what did.
func showUpgraded(ctx context.Context, w io.Writer, front Front) (upgraded, error) {
	if err := writeRule(w); err != nil {
		return upgraded{}, fmt.Errorf("demo: print: %w", err)
	}
	u, err := runUpgraded(ctx, front)
	if err := errors.Join(err, context.Cause(ctx)); err != nil {
		return upgraded{}, err
	}
	if err := writeUpgraded(w, u); err != nil {
		return upgraded{}, fmt.Errorf("demo: print the report: %w", err)
	}
	return u, nil
}

// stay prints what to try and waits for the context to end.
func stay(ctx context.Context, w io.Writer, url string) error {
	if err := writeTry(w, url); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
