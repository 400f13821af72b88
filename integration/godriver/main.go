// Command godriver drives the Tasks extension (2026-07-28) with the published
// Go client trpc-mcp-go against tasks-server.js, or the taskless server behind
// berth, and prints one line of JSON like the drivers in parts/clients: a job,
// a job that asks for input and a job that is cancelled, in turn, all at once.
//
// It is a module of its own, so that the client's dependencies stay out of
// berth's.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"berth/integration/godriver/report"
)

// callLimit bounds one call: far above what the fixture's jobs take.
const callLimit = 30 * time.Second

func main() {
	url := flag.String("url", "", "MCP endpoint")
	calls := flag.Int("calls", 12, "how many calls to make, all at once")
	flag.Parse()

	ok, err := report.Run(os.Stdout, *calls, func(i int) report.Outcome { return makeCall(*url, i) })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if !ok {
		os.Exit(1)
	}
}

func makeCall(url string, i int) report.Outcome {
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	kinds := []func(context.Context, *session, int) error{job, input, cancelled}
	session, err := connect(ctx, url)
	if err != nil {
		return report.Outcome{Err: fmt.Errorf("call %d: connecting: %w", i, err)}
	}
	defer session.client.Close()
	if err := kinds[i%len(kinds)](ctx, session, i); err != nil {
		return report.Outcome{Polls: session.polls.Load(), Lost: lost(err), Err: fmt.Errorf("call %d: %w", i, err)}
	}
	return report.Outcome{Polls: session.polls.Load()}
}
