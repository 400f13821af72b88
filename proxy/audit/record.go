package audit

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"berth/internal/mcp"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/sticky"

	"go.opentelemetry.io/otel/trace"
)

// Record is what is reported of one request. Zero values stand for what did not happen. It is for
// one goroutine, but for exchanges that Exchange begins.
type Record struct {
	Source     sticky.Source // how the upstream was found
	Upstream   string        // who was sent the request last; of a subscription all that serve it
	MovedFrom  string        // the upstream that held the session before the request moved it
	Holder     string        // the berth that holds the call of a task of berth's own
	Task       string        // id of the task that was made of the call: by berth, once its client has it, or by the server
	Session    string        // that the answer hands out
	Code       int           // of the JSON-RPC error
	ToolFailed bool          // the result says isError
	Err        error         // why berth refused or failed; nil if an upstream answered

	Status  int       // of the answer
	Meant   int       // the status that tells how the request went; another one behind an early stream
	Begun   time.Time // when the answer's header was written
	Written int64     // bytes of its body
	Cutting bool      // berth ends, and breaks off what is under way; of what did not fail it does not matter
	Unheard bool      // the answer was read to its end, and the client had left before it was given all

	call     *inbound.Call
	reporter *Reporter
	label    string // the call's method, as metrics bear it; "": not known yet
	deed     Deed
	deedOn   string // the task, if it is another than the call names
	attempts int    // requests to upstreams, but for those of a list or a subscription
	span     trace.Span
	ctx      context.Context // with the span in it
	exchange Exchange        // under way
}

// Close reports the request, which has ended now.
func (r *Record) Close(now time.Time) {
	if r.Unheard {
		r.loseClient(now)
	}
	e := end{at: now, took: now.Sub(r.call.Began), outcome: r.outcome()}
	e.errorType = r.errorType(e.outcome)
	r.endSpan(e.errorType, now)
	r.reporter.served(r, e)
	r.noteTrouble(e)
	r.logDeed(e)
	if e.outcome == outcomeCut {
		r.warnOfCut(e.took)
	}
	r.log(e)
	r.reporter.last.note(r, e)
}

// loseClient has the request end with its client, and the exchange with the upstream as that went.
func (r *Record) loseClient(now time.Time) {
	if r.exchange.upstream != nil {
		r.endExchange(r.errorType(r.outcome()), now)
	}
	r.Err = fault.ErrClientGone
}

// method is the label, whether it is known yet or not.
func (r *Record) method() string {
	if r.label == "" {
		return r.call.MethodLabel()
	}
	return r.label
}

// end sums up how a request ended.
type end struct {
	at        time.Time
	took      time.Duration
	outcome   string
	errorType string // error.type; "": all went well
}

const (
	outcomeOK            = "ok"
	outcomeUpstreamError = "upstream_error"
	outcomeRefused       = "refused"
	outcomeFailed        = "failed"
	outcomeClientGone    = "client_gone"
	outcomeCut           = "cut"
)

// Outcomes are the words for how requests end.
var Outcomes = []string{outcomeOK, outcomeUpstreamError, outcomeRefused, outcomeFailed, outcomeClientGone, outcomeCut}

// failures are berth's or an upstream's, whatever status they are told with.
var failures = []error{fault.BadUpstream, fault.Collision, fault.OddTask, fault.ErrNobodyLeft, fault.AnswerTooLarge}

// outcome sums the request up in one word.
func (r *Record) outcome() string {
	left := r.Err != nil && r.call.HTTP.Context().Err() != nil
	switch {
	case r.Err == nil && r.Meant >= 500:
		return outcomeUpstreamError
	case r.Err == nil:
		return outcomeOK
	case left && r.Cutting, errors.Is(r.Err, fault.StreamShutdown):
		return outcomeCut
	case left, errors.Is(r.Err, fault.ErrClientGone):
		return outcomeClientGone
	case r.Meant >= 500, slices.ContainsFunc(failures, func(e error) bool { return errors.Is(r.Err, e) }):
		return outcomeFailed
	}
	return outcomeRefused
}

// toolError is the error.type of a tool that reported its failure in its result.
const toolError = "tool_error"

// otherError is the error.type of a code that only servers of somebody's own have: each would be a series.
const otherError = "other"

// errorOf is the error.type of a JSON-RPC code.
func errorOf(code int) string {
	if !mcp.IsUsual(code) {
		return otherError
	}
	return strconv.Itoa(code)
}

// errorType is the JSON-RPC code, a tool's own error, or what became of the request.
func (r *Record) errorType(outcome string) string {
	switch {
	case r.Code != 0:
		return errorOf(r.Code)
	case outcome != outcomeOK:
		return outcome
	case r.ToolFailed:
		return toolError
	}
	return ""
}
