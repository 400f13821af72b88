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
	"sync"
	"time"
)

// callLimit bounds one call: far above what the fixture's jobs take.
const callLimit = 30 * time.Second

func main() {
	url := flag.String("url", "", "MCP endpoint")
	calls := flag.Int("calls", 12, "how many calls to make, all at once")
	flag.Parse()

	report := new(report)
	var running sync.WaitGroup
	for i := range *calls {
		running.Go(func() { report.add(makeCall(*url, i)) })
	}
	running.Wait()
	if err := report.print(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if !report.ok() {
		os.Exit(1)
	}
}

func makeCall(url string, i int) outcome {
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	kinds := []func(context.Context, *session, int) error{job, input, cancelled}
	session, err := connect(ctx, url)
	if err != nil {
		return outcome{err: fmt.Errorf("call %d: connecting: %w", i, err)}
	}
	defer session.client.Close()
	if err := kinds[i%len(kinds)](ctx, session, i); err != nil {
		return outcome{polls: session.polls.Load(), lost: lost(err), err: fmt.Errorf("call %d: %w", i, err)}
	}
	return outcome{polls: session.polls.Load()}
}
