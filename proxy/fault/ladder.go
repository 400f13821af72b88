package fault

import (
	"context"
	"errors"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/relay"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/routing"
	"berth/upgrade"
)

// What routing and sending fail with, in the words that the client gets.
var (
	severalOwners   = Refused(wire.StatusBadRequest, "the batch is about tasks of several owners")
	noUpstream      = Unavailable(mcp.ReasonNoUpstream, "no upstream is available")
	unreachable     = Unavailable(mcp.ReasonNoUpstream, "no upstream can be reached")
	unclear         = Unavailable(mcp.ReasonOwnerUnavailable, "part of the fleet did not say whether it knows this id")
	noRoom          = Unavailable(mcp.ReasonUpstreamsFull, "the server instances have as much to do as they may")
	tooManyAsked    = Unavailable(mcp.ReasonOverloaded, "too many unknown ids are being asked for")
	storeDown       = Unavailable(mcp.ReasonStoreUnavailable, "the store of bindings is not available")
	storeLost       = &mcp.Error{Status: wire.StatusServiceUnavailable, Code: mcp.CodeUnavailable, Message: "the store was lost before the berth that holds this had answered", Reason: mcp.ReasonStoreUnavailable, Outcome: mcp.Unknown}
	tooFar          = Refused(wire.StatusRequestEntityTooLarge, "request body too large to be passed on to the berth that holds this")
	timedOut        = &mcp.Error{Status: wire.StatusGatewayTimeout, Code: mcp.CodeTimeout, Message: "the upstream did not answer in time", Reason: mcp.ReasonTimeout, Outcome: mcp.Unknown}
	reset           = Broken(mcp.ReasonUpstreamReset, "the upstream broke the exchange off")
	tooManyTasksNow = inAWhile(TooManyTasks, RetrySoon)
	tooMuchKeptNow  = inAWhile(TooMuchKept, RetryKept)
	tooMuchLentNow  = inAWhile(TooMuchLent, RetrySoon)
)

// rungs are the errors that have one answer, the first that fits counts.
var rungs = []struct {
	err    error
	answer *mcp.Error
}{
	{ErrClientGone, nil},
	{ErrNobodyLeft, nil},
	{routing.ErrUnknownTask, mcp.ErrUnknownTask},
	{mcp.ErrTaskID, mcp.ErrUnknownTask},
	{upgrade.ErrUnknown, mcp.ErrUnknownTask},
	{routing.ErrUndeclared, mcp.ErrMissingTasks},
	{routing.ErrUnknownSession, mcp.ErrUnknownSession},
	{routing.ErrSeveralOwners, severalOwners},
	{upgrade.ErrDraining, Draining},
	{upgrade.ErrKeyReused, OnceReused},
	{upgrade.ErrUnsettled, OnceUnsettled},
	{upgrade.ErrTooMany, tooManyTasksNow},
	{upgrade.ErrTooMuchKept, tooMuchKeptNow},
	{upgrade.ErrTooMuchLent, tooMuchLentNow},
	{routing.ErrNoUpstream, noUpstream},
	{routing.ErrFull, noRoom},
	{routing.ErrLate, noRoom},
	{routing.ErrOwnerGone, OwnerSilent},
	{routing.ErrUnclear, unclear},
	{routing.ErrBusy, tooManyAsked},
	{storage.ErrUnavailable, storeDown},
}

// Word turns an error into the answer for the client; nothing else does. nil means that
// nobody is there to be answered. reads says that the request may be sent again, so that
// the client may be told when.
func Word(err error, reads bool) *mcp.Error {
	if worded, ok := errors.AsType[*mcp.Error](err); ok {
		if reads && (worded == StreamReset || worded == StreamShutdown) {
			return inAWhile(worded, RetrySoon)
		}
		return worded
	}
	failed, unsaid := errors.AsType[*exchange.SendError](err)
	if unsaid && failed.Between {
		return unpassed(failed, reads)
	}
	for _, rung := range rungs {
		if errors.Is(err, rung.err) {
			return rung.answer
		}
	}
	if unsaid {
		return unanswered(failed, reads) // a deadline that ended it, too
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return storeDown
	}
	return Internal
}

// unanswered words a request that got no answer. What may have reached the upstream must
// not look as if it could be repeated, unless it was a read.
func unanswered(e *exchange.SendError, reads bool) *mcp.Error {
	worded := reset
	switch {
	case e.Starved:
		return Overloaded
	case e.Garbled:
		return BadUpstream
	case !e.Sent:
		return unreachable
	case e.TimedOut:
		worded = timedOut
	}
	if reads {
		return inAWhile(worded, RetrySoon)
	}
	return worded
}

// unpassed words a request that failed on its way to another berth.
func unpassed(e *exchange.SendError, reads bool) *mcp.Error {
	away := errors.Is(e, storage.ErrUnavailable)
	switch {
	case errors.Is(e, relay.ErrTooLarge):
		return tooFar
	case errors.Is(e, relay.ErrBusy):
		return Overloaded
	case away && !e.Sent:
		return storeDown
	case away && reads:
		return inAWhile(storeLost, RetrySoon)
	case away:
		return storeLost
	case e.Sent:
		return unanswered(e, reads)
	}
	return OwnerSilent
}
