package legacyface

import (
	"errors"
	"strings"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
)

var (
	errNoSession   = &mcp.Error{Status: wire.StatusBadRequest, Code: mcp.CodeBadRequest, Message: "Bad Request: Mcp-Session-Id header is required"}
	errInitialized = &mcp.Error{Status: wire.StatusBadRequest, Code: mcp.CodeInvalidRequest, Message: "Invalid Request: the session is initialized already"}
	errBatch       = &mcp.Error{Status: wire.StatusBadRequest, Code: mcp.CodeInvalidRequest, Message: "Invalid Request: the server takes no batches"}
	errNoEvent     = &mcp.Error{Status: wire.StatusBadRequest, Code: mcp.CodeBadRequest, Message: "Bad Request: no stream can be resumed from that event"}
	errConflict    = &mcp.Error{Status: wire.StatusConflict, Code: mcp.CodeBadRequest, Message: "Conflict: the stream is being read"}
	errMethod      = &mcp.Error{Status: wire.StatusMethodNotAllowed, Code: mcp.CodeBadRequest, Message: "Method not allowed"}
	errEnd         = &mcp.Error{Status: wire.StatusMethodNotAllowed, Code: mcp.CodeBadRequest, Message: "Method not allowed: the stream has ended with that event"}

	errFull = &mcp.Error{
		Status: wire.StatusServiceUnavailable, Code: mcp.CodeUnavailable, Message: "too many sessions are open",
		Reason: mcp.ReasonOverloaded, RetryAfter: 5 * time.Second, Outcome: mcp.NotExecuted,
	}
	errBusy = &mcp.Error{
		Status: wire.StatusTooManyRequests, Code: mcp.CodeRateLimited, Message: "too many calls are under way in the session",
		Reason: mcp.ReasonTooManyCalls, RetryAfter: 5 * time.Second, Outcome: mcp.NotExecuted,
	}
	errTooLong = &mcp.Error{
		Code: mcp.CodeInternal, Message: "the server's answer is too large", Reason: mcp.ReasonAnswerTooLarge, Outcome: mcp.Executed,
	}
	errEnded = &mcp.Error{ // no 5xx, which would count against the server
		Status: wire.StatusOK, Code: mcp.CodeInternal, Message: "the client has ended the session",
		Reason: mcp.ReasonSessionLost, Outcome: mcp.Unknown,
	}
)

// errLost says that the session ended before a request had its answer that changes nothing.
var errLost = errors.New("legacyface: the session has ended without an answer")

// errVersion is how a legacy server refuses a modern request.
func errVersion(version string) *mcp.Error {
	named := strings.Map(func(r rune) rune {
		if mcp.IsUnfit(r) {
			return -1
		}
		return r
	}, version[:min(len(version), 64)])
	return &mcp.Error{
		Status: wire.StatusBadRequest, Code: mcp.CodeBadRequest,
		Message: "Bad Request: Unsupported protocol version: " + named + " (supported versions: " + mcp.LegacyVersions() + ")",
	}
}

// LostBecause is what a connection that is lost tells its listener, with one of mcp's reasons.
func LostBecause(reason, message string) *mcp.Error {
	return &mcp.Error{
		Status: wire.StatusBadGateway, Code: mcp.CodeInternal, Message: message,
		Reason: reason, Outcome: mcp.Unknown,
	}
}
