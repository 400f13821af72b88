package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"berth/internal/mcp"
)

// begin prepares the connection and the clock.
func (x *request) begin() {
	x.started = time.Now()
	// The deadline of the connection's last answer must not hold for this one.
	_ = x.control.SetWriteDeadline(time.Time{})
}

// finish ends the request: it catches a panic, and writes the access record,
// the metrics and the span. What net/http still has to write gets its deadline.
func (x *request) finish() {
	caught := recover()
	if caught != nil && caught != http.ErrAbortHandler {
		// The value may hold anything a client sent; its type and the stack do not.
		x.p.log.Error("panic while serving a request", "type", fmt.Sprintf("%T", caught), "stack", string(debug.Stack()))
		x.err = errPanicked
		if x.status == 0 {
			x.answer(x.ladder(errPanicked))
			caught = nil
		} else {
			caught = http.ErrAbortHandler
		}
	}
	x.limitWrite()
	x.report()
	if caught != nil {
		panic(caught)
	}
}

// outcome sums the request up in one word, for metrics and access records.
func (x *request) outcome() string {
	switch {
	case errors.Is(x.err, errClientGone), x.err != nil && x.r.Context().Err() != nil:
		return "client_gone"
	case x.err != nil && x.status >= 500, errors.Is(x.err, errBadUpstream), errors.Is(x.err, errCollision):
		return "failed"
	case x.err != nil:
		return "refused"
	case x.status >= 500:
		return "upstream_error"
	}
	return "ok"
}

// methodLabel is the method as metrics may bear it: a client cannot invent one.
func (x *request) methodLabel() string {
	c := x.call()
	switch {
	case c == nil && x.message.Batch:
		return "batch"
	case c == nil:
		return x.r.Method
	case c.Kind == mcp.KindResponse:
		return "response"
	case mcp.IsKnownMethod(c.Method):
		return c.Method
	}
	return "other"
}

// report writes down what became of the request.
func (x *request) report() {
	took := time.Since(x.started)
	x.p.telemetry.served(x, took)
	x.span.end(x)
	if x.p.options.AccessLog != nil {
		x.p.options.AccessLog.Info("request", x.accessRecord(took)...)
	}
}
