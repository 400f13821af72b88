package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"berth/proxy/fault"
)

// serveAndReport serves the request, come what may.
func (x *request) serveAndReport() {
	x.begin()
	defer x.finish()
	if err := x.serve(); err != nil {
		x.fail(err)
	}
}

// begin prepares the connection and the clock.
func (x *request) begin() {
	x.started = time.Now()
	// The deadline of the connection's last answer must not hold for what the connection
	// itself writes before this one. Here and below errors only mean that it has no deadlines.
	if len(x.HTTP.Header["Expect"]) > 0 {
		_ = x.out.Client.SetWriteDeadline(time.Time{})
	}
	if x.HTTP.ContentLength != 0 {
		// It holds for a body that is refused unread as well: net/http reads on. At
		// the body's end net/http lifts it.
		_ = x.out.Client.SetReadDeadline(x.started.Add(x.Table.Limits.BodyRead))
	}
}

// finish ends the request: it catches a panic, and writes the access record,
// the metrics and the span. What net/http still has to write gets its deadline.
func (x *request) finish() {
	if caught := recover(); caught != nil {
		// The value may hold anything a client sent; its type and the stack do not.
		x.p.log.Error("panic while serving a request", "type", fmt.Sprintf("%T", caught), "stack", string(debug.Stack()))
		x.fail(fault.Internal)
	}
	x.err = cmp.Or(x.err, x.out.Failed)
	x.leave()
	x.out.LimitWrite()
	x.report()
}

// outcome sums the request up in one word, for metrics and access records.
func (x *request) outcome() string {
	switch {
	case x.wasCut():
		return "cut"
	case errors.Is(x.err, fault.ErrClientGone), x.err != nil && x.HTTP.Context().Err() != nil:
		return "client_gone"
	case x.err != nil && x.out.Meant() >= 500, errors.Is(x.err, fault.BadUpstream), errors.Is(x.err, fault.Collision), errors.Is(x.err, fault.ErrNobodyLeft), errors.Is(x.err, fault.AnswerTooLarge):
		return "failed"
	case x.err != nil:
		return "refused"
	case x.out.Meant() >= 500:
		return "upstream_error"
	}
	return "ok"
}

// report writes down what became of the request.
func (x *request) report() {
	took := time.Since(x.started)
	x.endSpan()
	x.p.telemetry.served(x, took)
	if x.wasCut() {
		x.reportCut(took)
	}
	if x.p.options.AccessLog != nil {
		x.logAccess(took)
	}
}
