package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// counts is what an instance has done. The JSON names are those that the tests read
// of all servers.
type counts struct {
	mu   sync.Mutex // guards the fields below
	seen map[string]bool

	Posts     int `json:"posts"`     // POSTs of any kind
	ToolCalls int `json:"toolCalls"` // tools run to their end
	Questions int `json:"questions"` // rounds that ended with a question
	CutOff    int `json:"cutOff"`    // tools that stopped because the call was withdrawn
	Running   int `json:"running"`   // rounds under way
	Repeats   int `json:"repeats"`   // rounds that came before with the same arguments
}

func newCounts() *counts { return &counts{seen: make(map[string]bool)} }

func (c *counts) posted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			c.mu.Lock()
			c.Posts++
			c.mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}

// counted runs a tool and counts how that ended.
func (c *counts) counted(run mcp.ToolHandler) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c.begin(req.Params)
		result, err := run(ctx, req)
		c.end(ctx, result)
		return result, err
	}
}

func (c *counts) begin(params *mcp.CallToolParamsRaw) {
	round := fmt.Sprintf("%s %s %q %d", params.Name, params.Arguments, params.RequestState, len(params.InputResponses))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Running++
	if c.seen[round] {
		c.Repeats++
	}
	c.seen[round] = true
}

func (c *counts) end(ctx context.Context, result *mcp.CallToolResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Running--
	switch {
	case ctx.Err() != nil:
		c.CutOff++
	case result != nil && len(result.InputRequests) > 0:
		c.Questions++
	default:
		c.ToolCalls++
	}
}

func (c *counts) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := json.NewEncoder(w).Encode(c); err != nil {
		panic(http.ErrAbortHandler)
	}
}
