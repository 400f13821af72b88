// Command berth is a task-aware reverse proxy and load balancer for the Model
// Context Protocol (MCP) over Streamable HTTP.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"berth/internal/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal ends berth in order; with the handler gone, a second one is
	// whoever drains to mind, or ends the process.
	context.AfterFunc(ctx, stop)
	os.Exit(command.Run(ctx, os.Args, os.Stdout, os.Stderr))
}
