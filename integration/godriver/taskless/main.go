// Command taskless is one instance of an MCP server without a line of task code:
// tools of the conformance suite's tasks-* scenarios as plain ones that take their
// time, and as ones that ask back in several rounds (2026-07-28, MRTR). It is built on
// the published go-sdk, and knows neither tasks/* nor the extension.
//
//	taskless -http 127.0.0.1:7101 [-answers json|sse]
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
	flag.Parse()

	counts := newCounts()
	endpoint := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return newServer(counts) },
		&mcp.StreamableHTTPOptions{
			Stateless:    true,
			JSONResponse: *answers == "json",
			// Without it go-sdk lets a tool run on when its caller hangs up, though in the
			// modern era that is the cancellation.
			PropagateRequestCancellation: true,
		},
	)
	mux := http.NewServeMux()
	mux.Handle("/mcp", counts.posted(endpoint))
	mux.Handle("GET /__stats", counts)
	log.Fatal(http.ListenAndServe(*address, mux))
}

func newServer(counts *counts) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "taskless", Version: "1.0.0"}, nil)
	for _, t := range tools {
		server.AddTool(&mcp.Tool{Name: t.name, Description: t.about, InputSchema: t.input}, counts.counted(t.run))
	}
	return server
}
