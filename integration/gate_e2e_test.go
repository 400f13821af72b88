//go:build e2e

package integration

import (
	"bytes"
	"io"
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

// listen is an intercept that answers subscriptions as a server does: it acknowledges
// them, and ends them with a completion result once the gate is open. All else it
// treats as hold does.
func (g *gate) listen(w http.ResponseWriter, r *http.Request, body []byte) bool {
	if r.Header.Get("Mcp-Method") != "subscriptions/listen" {
		return g.hold(w, r, body)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, acknowledgement)
	_ = http.NewResponseController(w).Flush()
	select {
	case <-g.opened:
		_, _ = io.WriteString(w, completion)
	case <-r.Context().Done():
	}
	return true
}

// What a subscription hears first and last (2026-07-28, subscriptions). All requests
// of these tests have the id 1.
const (
	acknowledgement = `data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{}}}` + "\n\n"
	completion      = `data: {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":1}}}` + "\n\n"
)
