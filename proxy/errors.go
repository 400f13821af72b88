package proxy

import (
	"context"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/routing"
	"berth/upgrade"
)

// What is refused or fails outside of routing and exchange, in the words that the
// client gets.
var (
	errNotFound        = refused(wire.StatusNotFound, "no MCP endpoint here")
	errForbiddenHost   = refused(wire.StatusForbidden, "host not allowed")
	errForbiddenOrigin = refused(wire.StatusForbidden, "origin not allowed")
	errTooManyHeaders  = refused(wire.StatusRequestHeaderFieldsTooLarge, "too many headers")
	errCriticalHop     = refused(wire.StatusBadRequest, "Connection names a header that must arrive")
	errMethod          = refused(wire.StatusMethodNotAllowed, "method not allowed")
	errEncodedBody     = refused(wire.StatusUnsupportedMediaType, "encoded request bodies are not accepted")
	errBodyTooLarge    = refused(wire.StatusRequestEntityTooLarge, "request body too large")
	errBodySlow        = refused(wire.StatusRequestTimeout, "request body did not arrive in time")
	errBodyUnread      = &mcp.Error{Status: wire.StatusBadRequest, Code: mcp.CodeParse, Message: "the body could not be read"}
	errSeveralSessions = refused(wire.StatusBadRequest, "several Mcp-Session-Id values")
	errNoBatches       = refused(wire.StatusBadRequest, "this protocol version has no batches")
	// Where callers are told apart: some servers read a body whatever the method, and take
	// it for a call.
	errBodyBesidePost = refused(wire.StatusBadRequest, "only a POST has a body")
	// The era of subscriptions has no batches, and in one it could not be narrowed.
	errListenInBatch   = refused(wire.StatusBadRequest, "a subscription stands in a batch")
	errRequiredInBatch = refused(wire.StatusBadRequest, "a tool that is called as a task only stands in a batch")
	// Whom an answer is for could be told only if it stood alone.
	errAnswersMoved = refused(wire.StatusBadRequest, "a batch bears answers, and the session has moved")
	errBadUpstream  = broken(mcp.ReasonBadUpstream, "the upstream's answer cannot be used")
	errRedirect     = broken(mcp.ReasonBadUpstream, "the upstream redirects, which is not followed")
	// 2025-11-25, transports, "Session Management": a session's id is visible ASCII.
	errOddSession     = broken(mcp.ReasonBadUpstream, "the upstream's session id is too long, or not visible ASCII")
	errAnswerTooLarge = withheld(mcp.ReasonAnswerTooLarge, "the upstream's answer is too large")
	errCollision      = withheld(mcp.ReasonCollision, "the upstream gave out a task id that another upstream owns")
	errOwnerCut       = mayHaveRun(errOwnerSilent)
	errOwnerSilent    = unavailable(mcp.ReasonOwnerUnavailable, "the server instance that holds this does not answer")
	errLongID         = refused(wire.StatusBadRequest, "request id too long")
	errOverloaded     = unavailable(mcp.ReasonOverloaded, "too much is under way")
	errDraining       = unavailable(mcp.ReasonDraining, "this berth is about to end")
	// The words of 2025-11-25, "Task Negotiation", for a tool that must be called as a task.
	errTaskRequired = &mcp.Error{Status: wire.StatusOK, Code: mcp.CodeMethodNotFound, Message: "this tool is called as a task only"}
	errTooManyTasks = limited(mcp.ReasonTooManyTasks, "too many tasks are live")
	errTooMuchKept  = limited(mcp.ReasonTooMuchKept, "tasks of this caller keep as much as they may until they expire")
	errTooMuchLent  = limited(mcp.ReasonTooMuchKept, "results that this caller is being given and has not read fill the memory")
	errInternal     = &mcp.Error{Status: wire.StatusInternalServerError, Code: mcp.CodeInternal, Message: "internal error", Outcome: mcp.Unknown}
)

// What a caller is told who takes more than one may; load.tooMuch says until when.
var (
	errTooManyPolls   = limited(mcp.ReasonRateLimited, "tasks are asked for too often")
	errTooManyUnknown = limited(mcp.ReasonRateLimited, "too many unknown ids are asked for")
	errTooManyCalls   = limited(mcp.ReasonTooManyCalls, "too many calls are under way")
	errTooManyStreams = limited(mcp.ReasonTooManyStreams, "too many streams are open")
)

// errClientGone says that nobody is there to be answered.
var errClientGone = errors.New("proxy: client gone")

const retrySoon = time.Second

// retryKept is when a caller may try again whose tasks keep too much: what they keep goes as
// they end, and expire.
const retryKept = 5 * time.Second

// ladder turns an error into the answer for the client. It is the only place
// that does. nil means that nobody is there to be answered.
func (x *request) ladder(err error) *mcp.Error {
	var worded *mcp.Error
	var failed *exchange.SendError
	switch {
	case errors.As(err, &worded):
		return worded
	case errors.Is(err, errClientGone), errors.Is(err, errNobodyLeft), errors.Is(err, context.Canceled) && x.r.Context().Err() != nil:
		return nil
	case errors.Is(err, routing.ErrUnknownTask), errors.Is(err, mcp.ErrTaskID), errors.Is(err, upgrade.ErrUnknown):
		return x.orNoSuchMethod(mcp.ErrUnknownTask)
	case errors.Is(err, routing.ErrUndeclared):
		return x.orNoSuchMethod(mcp.ErrMissingTasks)
	case errors.Is(err, routing.ErrUnknownSession):
		return mcp.ErrUnknownSession
	case errors.Is(err, routing.ErrSeveralOwners):
		return refused(wire.StatusBadRequest, "the batch is about tasks of several owners")
	case errors.Is(err, upgrade.ErrDraining):
		return errDraining
	case errors.Is(err, upgrade.ErrKeyReused):
		return errOnceReused
	case errors.Is(err, upgrade.ErrUnsettled):
		return errOnceUnsettled
	case errors.Is(err, upgrade.ErrTooMany):
		tooMany := *errTooManyTasks
		tooMany.RetryAfter = retrySoon
		return &tooMany
	case errors.Is(err, upgrade.ErrTooMuchKept):
		tooMuch := *errTooMuchKept
		tooMuch.RetryAfter = retryKept
		return &tooMuch
	case errors.Is(err, upgrade.ErrTooMuchLent):
		tooMuch := *errTooMuchLent
		tooMuch.RetryAfter = retrySoon
		return &tooMuch
	case errors.Is(err, routing.ErrNoUpstream):
		return unavailable(mcp.ReasonNoUpstream, "no upstream is available")
	case errors.Is(err, routing.ErrOwnerGone):
		return errOwnerSilent
	case errors.Is(err, routing.ErrUnclear):
		return unavailable(mcp.ReasonOwnerUnavailable, "part of the fleet did not say whether it knows this id")
	case errors.Is(err, routing.ErrBusy):
		return unavailable(mcp.ReasonOverloaded, "too many unknown ids are being asked for")
	case errors.Is(err, storage.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return unavailable(mcp.ReasonStoreUnavailable, "the store of bindings is not available")
	case errors.As(err, &failed):
		return x.sendFailed(failed)
	}
	return errInternal
}

// orNoSuchMethod returns e, unless the modern era has no such method: that is
// refused as what it is, whether the task exists or not.
func (x *request) orNoSuchMethod(e *mcp.Error) *mcp.Error {
	if c := x.call(); c != nil && c.Era == mcp.EraModern && c.Method == mcp.MethodTaskResult {
		return mcp.ErrNoSuchMethod
	}
	return e
}

// sendFailed words a request that got no answer. What may have reached the
// upstream must not look as if it could be repeated, unless it was a read.
func (x *request) sendFailed(e *exchange.SendError) *mcp.Error {
	switch {
	case e.Starved:
		return errOverloaded
	case e.Garbled:
		return errBadUpstream
	case !e.Sent:
		return unavailable(mcp.ReasonNoUpstream, "no upstream can be reached")
	case e.TimedOut:
		return &mcp.Error{Status: wire.StatusGatewayTimeout, Code: mcp.CodeTimeout, Message: "the upstream did not answer in time", Reason: mcp.ReasonTimeout, RetryAfter: x.retryRead(), Outcome: mcp.Unknown}
	}
	reset := broken(mcp.ReasonUpstreamReset, "the upstream broke the exchange off")
	reset.RetryAfter = x.retryRead()
	return reset
}

// retryRead is when a read may be tried again; 0 for what is none.
func (x *request) retryRead() time.Duration {
	if x.readsOnly() {
		return retrySoon
	}
	return 0
}

func refused(status int, message string) *mcp.Error {
	return &mcp.Error{Status: status, Code: mcp.CodeInvalidRequest, Message: message}
}

// broken is a failure after which nobody knows what the upstream did.
func broken(reason, message string) *mcp.Error {
	return &mcp.Error{Status: wire.StatusBadGateway, Code: mcp.CodeInternal, Message: message, Reason: reason, Outcome: mcp.Unknown}
}

// withheld is a failure to pass on what the upstream did.
func withheld(reason, message string) *mcp.Error {
	e := broken(reason, message)
	e.Outcome = mcp.Executed
	return e
}

func limited(reason, message string) *mcp.Error {
	return &mcp.Error{Status: wire.StatusTooManyRequests, Code: mcp.CodeRateLimited, Message: message, Reason: reason, Outcome: mcp.NotExecuted}
}

// mayHaveRun is e of a request that was sent.
func mayHaveRun(e *mcp.Error) *mcp.Error {
	sent := *e
	sent.Outcome = mcp.Unknown
	return &sent
}

func unavailable(reason, message string) *mcp.Error {
	return &mcp.Error{Status: wire.StatusServiceUnavailable, Code: mcp.CodeUnavailable, Message: message, Reason: reason, RetryAfter: retrySoon, Outcome: mcp.NotExecuted}
}
