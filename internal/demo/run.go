package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Options say what Run puts before the fleet.
type Options struct {
	// Once ends Run after the reports, with an error if anything was lost
	// through berth, or a rule was not kept. The zero value keeps the fleet and
	// berth up until the context ends.
	Once bool

	// Front makes each berth. Required.
	Front Front

	// Server is the command that runs the server of the third part, an mcptest.StdioServer. Required.
	Server []string
}

// Run drives the trial through berth and through a round robin, each over a
// fresh fleet on free loopback ports; then it calls a tool that knows nothing
// of tasks, with a rule and without, and a legacy server by stdio. It prints all that to w.
// It takes five to seven seconds; see [Options.Once] for what follows.
func Run(ctx context.Context, w io.Writer, opts Options) error {
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

	url := front.URL.String()
	berth, err := compare(ctx, w, url)
	if err != nil {
		return err
	}
	upgraded, err := showUpgraded(ctx, w, opts.Front)
	if err != nil {
		return err
	}
	bridged, err := showBridged(ctx, w, opts)
	if err != nil {
		return err
	}
	if opts.Once {
		return errors.Join(berth.err(), upgraded.err(), bridged.err())
	}
	if err := write(w, strings.ReplaceAll(toTry, "ENDPOINT", url)); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// compare is the first part: the trial through the berth at url, which it returns, and
// the same through a round robin.
func compare(ctx context.Context, w io.Writer, url string) (berth trial, err error) {
	if err := write(w, intro()); err != nil {
		return nil, err
	}
	berth = runTrial(ctx, url)
	robin, err := runRoundRobin(ctx)
	if err := errors.Join(err, context.Cause(ctx)); err != nil {
		return nil, err
	}
	return berth, write(w, report(berth, robin))
}

// runRoundRobin runs the trial over another fleet.
func runRoundRobin(ctx context.Context) (trial, error) {
	behind, err := startUpstreams(pollInterval)
	if err != nil {
		return nil, err
	}
	defer behind.Close()
	transport := &http.Transport{MaxIdleConnsPerHost: concurrency}
	defer transport.CloseIdleConnections()
	front, err := startHost(NewRoundRobin(transport, behind.urls()...))
	if err != nil {
		return nil, err
	}
	defer front.Close()
	return runTrial(ctx, front.URL.String()), nil
}

// showUpgraded is the second part: it says what is about to happen, and then what did.
func showUpgraded(ctx context.Context, w io.Writer, front Front) (upgraded, error) {
	if err := write(w, upgradedIntro()); err != nil {
		return upgraded{}, err
	}
	u, err := runUpgraded(ctx, front)
	if err := errors.Join(err, context.Cause(ctx)); err != nil {
		return upgraded{}, err
	}
	return u, write(w, u.report())
}

// showBridged is the third part.
func showBridged(ctx context.Context, w io.Writer, opts Options) (bridged, error) {
	if err := write(w, bridgedIntro()); err != nil {
		return bridged{}, err
	}
	b, err := runBridged(ctx, opts.Front, opts.Server)
	if err := errors.Join(err, context.Cause(ctx)); err != nil {
		return bridged{}, err
	}
	return b, write(w, b.report())
}

func write(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("demo: print: %w", err)
	}
	return nil
}
