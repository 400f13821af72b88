package bridge

import (
	"context"
	"errors"
	"fmt"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
)

// What a modern server refuses a request with (2026-07-28, basic, "Error Codes").
var (
	errNoMethod  = mcp.ErrNoSuchMethod
	errPostAlone = &mcp.Error{Status: wire.StatusMethodNotAllowed, Code: mcp.CodeInvalidRequest, Message: "Invalid Request: this revision knows POST alone"}
	errMeta      = &mcp.Error{Status: wire.StatusBadRequest, Code: mcp.CodeInvalidParams, Message: "Invalid params: _meta must say protocolVersion and clientCapabilities"}
	errFilter    = &mcp.Error{Status: wire.StatusBadRequest, Code: mcp.CodeInvalidParams, Message: "Invalid params: the notifications of a subscription are true or false, its resources and tasks lists of strings"}
)

// What a bridged call fails with.
var (
	errHolderLost = fault.Lost(mcp.ReasonHolderLost, "the berth that held the call between its rounds is gone")
	errHolderGone = fmt.Errorf("%w, and has not taken this one", errHolderLost)
	errNotThere   = &mcp.Error{Status: wire.StatusOK, Code: mcp.CodeInternal, Message: "the tool needs its user at a URL first, which the client has declined", Outcome: mcp.NotExecuted}
	errAllAtOnce  = mcp.ErrParams("all that was asked is to be answered at once: it is too long to be asked again")
	errUnusable   = fault.BadUpstream
	errNoCursor   = fault.Unavailable(mcp.ReasonKeysUnavailable, "no cursor can be sealed")
	errReset      = fault.StreamReset
)

// errLate ends what waits for an answer's headers.
var errLate = fmt.Errorf("bridge: no answer in time: %w", context.DeadlineExceeded)

func timedOut(err error) error {
	late := &exchange.SendError{Err: err, Sent: true, TimedOut: true}
	if failed, ok := errors.AsType[*exchange.SendError](err); ok {
		late.Sent, late.Between = failed.Sent, failed.Between
	}
	return late
}

// errNoHeader refuses a request that lacks a header ("Server Validation").
func errNoHeader(name string) *mcp.Error { return mcp.ErrMismatch(name + " is missing") }

// errVersion refuses a version that is not spoken (2026-07-28, versioning, "Protocol Version
// Negotiation").
func errVersion(requested string) *mcp.Error {
	return &mcp.Error{Status: wire.StatusBadRequest, Code: mcp.CodeUnsupportedVersion, Message: "Unsupported protocol version",
		Data: map[string]any{"supported": []string{modernVersion}, "requested": requested}}
}
