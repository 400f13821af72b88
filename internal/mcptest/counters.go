package mcptest

import (
	"context"
	"net/http"
	"sync"
)

// counters are what tests and the report ask an instance about its traffic.
type counters struct {
	mu         sync.Mutex // guards the fields below
	calls      map[string]int
	headers    map[string]http.Header
	hangups    map[string]int
	executions int
	byLabel    map[string]int
	cancelled  int
	resumed    int
	denied     map[string]int
}

func (c *counters) note(method string, h http.Header) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = map[string]int{}
		c.headers = map[string]http.Header{}
		c.hangups = map[string]int{}
		c.denied = map[string]int{}
	}
	c.calls[method]++
	c.headers[method] = h.Clone()
}

func (c *counters) countHangup(ctx context.Context, method string) {
	if ctx.Err() == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hangups[method]++
}

func (c *counters) countExecution(label string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.executions++
	if c.byLabel == nil {
		c.byLabel = map[string]int{}
	}
	c.byLabel[label]++
}

func (c *counters) countCancelled() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancelled++
}

func (c *counters) countResumed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resumed++
}

func (c *counters) countDenied(method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.denied[method]++
}

// Calls is how many JSON-RPC messages of that method arrived, refused and
// intercepted ones included. GET and DELETE requests count under these names,
// a client's bare responses and what is no JSON-RPC at all under "".
func (c *counters) Calls(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[method]
}

// LastHeader is the request header of the latest call of that method, nil if
// there was none.
func (c *counters) LastHeader(method string) http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.headers[method].Clone()
}

// Hangups is how many calls of that method lost their client before they were
// answered.
func (c *counters) Hangups(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hangups[method]
}

// Executions is how many tools were run: counted when a tool starts, as a task
// or not.
func (c *counters) Executions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.executions
}

// ExecutionsOf is how many of them had that label as an argument.
func (c *counters) ExecutionsOf(label string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byLabel[label]
}

// Cancelled is how many calls notifications/cancelled has ended.
func (c *counters) Cancelled() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cancelled
}

// Resumed is how many streams were taken up again by Last-Event-ID.
func (c *counters) Resumed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.resumed
}

// Denied is how many calls of that method named a task or a session that this
// instance does not know. A batch counts as its first call.
func (c *counters) Denied(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.denied[method]
}
