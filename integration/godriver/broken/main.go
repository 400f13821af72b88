// Command broken makes calls whose server dies in mid-call, with a published Go client, and
// prints one line of JSON as the drivers in parts/clients do. A call is right if its client
// is told of the loss.
//
//	broken -url URL -calls 3 -library mcp-go|go-sdk
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"berth/integration/godriver/report"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// callLimit bounds one call: far above what it takes to be told.
const callLimit = 45 * time.Second

// What the calls are of: it takes longer than anybody waits.
const tool = "trigger-long-running-operation"

var arguments = map[string]any{"duration": 3600, "steps": 3600}

// makes are the clients, by name. What they return is what became of the call.
var makes = map[string]func(ctx context.Context, url string) error{
	"mcp-go": mcpGo,
	"go-sdk": goSDK,
}

func main() {
	url := flag.String("url", "", "MCP endpoint")
	calls := flag.Int("calls", 3, "how many calls to make, all at once")
	library := flag.String("library", "mcp-go", "whose client makes them")
	flag.Parse()

	ok, err := report.Run(os.Stdout, *calls, func(int) report.Outcome {
		ctx, cancel := context.WithTimeout(context.Background(), callLimit)
		defer cancel()
		return report.Outcome{Err: wantTold(makes[*library](ctx, *url))}
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if !ok {
		os.Exit(1)
	}
}

// wantTold returns nil if a call has failed, and not by its client's own time-out.
func wantTold(err error) error {
	if err == nil {
		return errors.New("the call has a result")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

func mcpGo(ctx context.Context, url string) error {
	c, err := client.NewStreamableHttpClient(url)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Start(ctx); err != nil {
		return err
	}
	if _, err := c.Initialize(ctx, mcp.InitializeRequest{Params: mcp.InitializeParams{
		ProtocolVersion: "2025-11-25",
		ClientInfo:      mcp.Implementation{Name: "broken", Version: "1.0.0"},
	}}); err != nil {
		return err
	}
	_, err = c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: tool, Arguments: arguments}})
	return err
}

func goSDK(ctx context.Context, url string) error {
	session, err := sdk.NewClient(&sdk.Implementation{Name: "broken", Version: "1.0.0"}, nil).
		Connect(ctx, &sdk.StreamableClientTransport{Endpoint: url}, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	_, err = session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments})
	return err
}
