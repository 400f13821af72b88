//go:build e2e

package integration

import (
	"bytes"
	"net/http"
	"sync"
)

// gate keeps calls of one tool at their upstreams until it is opened.
type gate struct {
	tool   string
	opened chan struct{}
	once   sync.Once
}

func newGate(tool string) *gate { return &gate{tool: tool, opened: make(chan struct{})} }

// open lets all calls through, those that wait and those to come.
func (g *gate) open() { g.once.Do(func() { close(g.opened) }) }

// hold is an intercept.
func (g *gate) hold(_ http.ResponseWriter, r *http.Request, body []byte) bool {
	if r.Header.Get("Mcp-Method") != "tools/call" || !bytes.Contains(body, []byte(`"name":"`+g.tool+`"`)) {
		return false
	}
	select {
	case <-g.opened:
		return false
	case <-r.Context().Done():
		return true
	}
}
