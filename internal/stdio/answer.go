package stdio

import (
	"io"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// Reasons: the data.reason of errors that are worded here.
const (
	ReasonProcessFailed    = "process_failed"     // the process did not start, or did not answer initialize
	ReasonProcessExited    = "process_exited"     // it ended while the call was in flight
	ReasonCrashLoop        = "crash_loop"         // it ended too often; it is tried again now and then
	ReasonTooManyProcesses = "too_many_processes" // MaxProcesses run
	ReasonProcessBusy      = "process_busy"       // it does not read, or has too many calls in flight
	ReasonCancelled        = "cancelled"          // the client cancelled the call
	ReasonSessionEnded     = "session_ended"      // the client ended its session

	ReasonTooManySubscriptions = "too_many_subscriptions" // its session has as many as it may
)

// codeSessionNotFound is the TypeScript SDK's server's, which no revision names.
const codeSessionNotFound = -32001

// streaming returns an answer that is a stream of the session.
func streaming(session string, body io.ReadCloser) *wire.Response {
	response := wire.Streamed(body)
	response.Header.Set(mcp.HeaderSession, session)
	return response
}

func badRequest(message string) *mcp.Error {
	return &mcp.Error{Status: wire.StatusBadRequest, Code: mcp.CodeBadRequest, Message: "Bad Request: " + message}
}

// unavailable is an error for what nothing was done of, and which may be tried again.
func unavailable(message, reason string, retry time.Duration) *mcp.Error {
	return &mcp.Error{Status: wire.StatusServiceUnavailable, Code: mcp.CodeInternal, Message: message,
		Reason: reason, RetryAfter: retry, Outcome: mcp.NotExecuted}
}

// turnAway is the answer to a request of which nothing was done. Processes that keep dying alone say something of the server.
func turnAway(why *mcp.Error, id []byte) *wire.Response {
	if why == errManySubscriptions || why.Status == wire.StatusServiceUnavailable && why.Reason != ReasonCrashLoop {
		return exchange.TurnedAway(why, id)
	}
	return exchange.Refusal(why, id)
}

// failed is an error for what a process left undone.
func failed(message, reason string, outcome mcp.Outcome) *mcp.Error {
	return &mcp.Error{Status: wire.StatusBadGateway, Code: mcp.CodeInternal, Message: message, Reason: reason, Outcome: outcome}
}

// unstarted is how an opening fails for which no process runs: nobody has it.
func unstarted(why *mcp.Error) *exchange.SendError {
	return &exchange.SendError{Err: why, Refused: true, Unstarted: true}
}

var (
	errNoSession = &mcp.Error{Status: wire.StatusNotFound, Code: codeSessionNotFound, Message: "Session not found"}
	errDraining  = unavailable("the server is shutting down", mcp.ReasonDraining, time.Second)
	errBusy      = unavailable("the process does not read what it is sent", ReasonProcessBusy, time.Second)
	errManyCalls = unavailable("too many calls are in flight", ReasonProcessBusy, time.Second)
)
