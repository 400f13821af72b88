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
	// Once ends Run after the report, with an error if anything was lost
	// through berth. The zero value keeps the fleet and berth up until the
	// context ends.
	Once bool

	// Front makes the handler under trial, berth, over upstreams given by name
	// and URL, and a function that releases what it holds. Required. It is
	// called once; the handler serves /mcp.
	Front func(upstreams map[string]string) (http.Handler, func(), error)
}

// Run drives the trial through berth and through a round robin, each over a
// fresh fleet on free loopback ports, and prints both to w. It takes two to
// four seconds; see [Options.Once] for what follows.
func Run(ctx context.Context, w io.Writer, opts Options) error {
	if err := writeIntro(w); err != nil {
		return fmt.Errorf("demo: print: %w", err)
	}
	behind, err := startUpstreams(pollInterval)
	if err != nil {
		return err
	}
	defer behind.Close()
	handler, release, err := opts.Front(behind.byName())
	if err != nil {
		return fmt.Errorf("demo: front: %w", err)
	}
	defer release()
	front, err := startHost(handler)
	if err != nil {
		return err
	}
	defer front.Close()

	berth := runTrial(ctx, front.URL.String(), behind)
	robin, err := runRoundRobin(ctx)
	if err := errors.Join(err, context.Cause(ctx)); err != nil {
		return err
	}
	if err := writeReport(w, berth, robin); err != nil {
		return fmt.Errorf("demo: print the report: %w", err)
	}
	if opts.Once {
		return berth.err()
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

// stay prints what to try and waits for the context to end.
func stay(ctx context.Context, w io.Writer, url string) error {
	if err := writeTry(w, url); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
