// Command taskless is one instance of an MCP server without a line of task code:
// tools of the conformance suite's tasks-* scenarios as plain ones that take their
// time, and as ones that ask back. It is built on the published go-sdk, and knows
// neither tasks/* nor the extension.
//
//	taskless -http 127.0.0.1:7101 [-answers json|sse] [-sessions [-events]]
//
// With -sessions it is a server of the legacy era, whose tools ask by requests on the
// stream of their call; -events has its streams carry event ids, from which go-sdk
// replays. Without them it is a modern one, whose tools ask in several rounds
// (2026-07-28, MRTR).
//
// GET /__stats tells what this instance has run, so that a test can see that no tool
// ran twice.
package main

import (
	"flag"
	"log"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	address := flag.String("http", "", "address to listen on")
	answers := flag.String("answers", "json", "how requests are answered: json or sse")
	sessions := flag.Bool("sessions", false, "hold sessions, as legacy servers do")
	events := flag.Bool("events", false, "give events of these sessions ids, and replay them")
	flag.Parse()

	options := &mcp.StreamableHTTPOptions{JSONResponse: *answers == "json", Stateless: !*sessions}
	if *events {
		options.EventStore = mcp.NewMemoryEventStore(nil)
	}
	// Without it go-sdk lets a tool run on when its caller hangs up, which in the modern
	// era is the cancellation, and in the legacy one means nothing.
	options.PropagateRequestCancellation = !*sessions

	counts := newCounts()
	endpoint := mcp.NewStreamableHTTPHandler(serverFor(counts, *sessions), options)
	mux := http.NewServeMux()
	mux.Handle("/mcp", counts.posted(endpoint))
	mux.Handle("GET /__stats", counts)
	log.Fatal(http.ListenAndServe(*address, mux))
}

// serverFor gives each request a server, or all sessions the same.
func serverFor(counts *counts, sessions bool) func(*http.Request) *mcp.Server {
	if !sessions {
		return func(*http.Request) *mcp.Server { return newServer(counts) }
	}
	server := newServer(counts)
	return func(*http.Request) *mcp.Server { return server }
}

func newServer(counts *counts) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "taskless", Version: "1.0.0"}, nil)
	for _, t := range tools {
		server.AddTool(&mcp.Tool{Name: t.name, Description: t.about, InputSchema: t.input}, counts.counted(t.run))
	}
	return server
}
