package fault

import (
	"fmt"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
)

// Refused is a request that berth does not take.
func Refused(status int, message string) *mcp.Error {
	return &mcp.Error{Status: status, Code: mcp.CodeInvalidRequest, Message: message}
}

// Broken is a failure after which nobody knows what the upstream did.
func Broken(reason, message string) *mcp.Error {
	return &mcp.Error{Status: wire.StatusBadGateway, Code: mcp.CodeInternal, Message: message, Reason: reason, Outcome: mcp.Unknown}
}

// Withheld is a failure to pass on what the upstream did.
func Withheld(reason, message string) *mcp.Error {
	e := Broken(reason, message)
	e.Outcome = mcp.Executed
	return e
}

// Lost is how a call has ended that had asked: no berth will know more, so it is no failure of HTTP,
// which clients take for a reason to try again.
func Lost(reason, message string) *mcp.Error {
	return &mcp.Error{Status: wire.StatusOK, Code: mcp.CodeInternal, Message: message, Reason: reason, Outcome: mcp.Unknown}
}

// Limited refuses a caller who takes more than one may.
func Limited(reason, message string) *mcp.Error {
	return &mcp.Error{Status: wire.StatusTooManyRequests, Code: mcp.CodeRateLimited, Message: message, Reason: reason, Outcome: mcp.NotExecuted}
}

// MayHaveRun is e of a request that was sent.
func MayHaveRun(e *mcp.Error) *mcp.Error {
	sent := *e
	sent.Outcome = mcp.Unknown
	return &sent
}

// Unavailable words a refusal that passes by itself: nothing was executed.
func Unavailable(reason, message string) *mcp.Error {
	return &mcp.Error{Status: wire.StatusServiceUnavailable, Code: mcp.CodeUnavailable, Message: message, Reason: reason, RetryAfter: RetrySoon, Outcome: mcp.NotExecuted}
}

// RetrySoon is when a caller may try again what passes by itself.
const RetrySoon = time.Second

// RetryKept is when a caller may try again whose tasks keep too much: what they keep goes as
// they end, and expire.
const RetryKept = 5 * time.Second

// BrokenOff says that the upstream did not end the answer that it had begun.
func BrokenOff(err error) error {
	return fmt.Errorf("%w: %w", BadUpstream, err)
}

// inAWhile is e that may be tried again after d.
func inAWhile(e *mcp.Error, d time.Duration) *mcp.Error {
	later := *e
	later.RetryAfter = d
	return &later
}
