// Command coretasks drives core tasks (2025-11-25) of plain tools with the published Go
// client mcp-go, and prints one line of JSON as the drivers in parts/clients do. What it
// calls is what parts/clients/plain-tools.js has for the same server.
//
//	coretasks -url URL -calls 20 -tools interactive|taskless|everything|fixture
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"berth/integration/godriver/report"
)

// callLimit bounds one call: far above what the servers' jobs take.
const callLimit = time.Minute

func main() {
	url := flag.String("url", "", "MCP endpoint")
	calls := flag.Int("calls", 12, "how many calls to make, all at once")
	tools := flag.String("tools", "interactive", "whose tools to call")
	flag.Parse()

	kinds := servers[*tools]
	ok, err := report.Run(os.Stdout, *calls, func(i int) report.Outcome {
		return makeCall(*url, kinds[i%len(kinds)], i)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if !ok {
		os.Exit(1)
	}
}

// makeCall makes one call in a session of its own.
func makeCall(url string, kind kind, i int) report.Outcome {
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	call := kind.call(i)
	s, err := connect(ctx, url)
	if err != nil {
		return report.Outcome{Err: fmt.Errorf("%s %d: connecting: %w", call.tool, i, err)}
	}
	defer s.client.Close()
	if err := kind.settle(ctx, s, call); err != nil {
		return report.Outcome{Polls: s.polls.Load(), Lost: s.lost.Load(), Err: fmt.Errorf("%s %d: %w", call.tool, i, err)}
	}
	return report.Outcome{Polls: s.polls.Load()}
}
