package task

import (
	"cmp"
	"encoding/json"
	"errors"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/relay"
	"berth/internal/storage"
	"berth/routing"
)

// Why a call is given up, or cannot be sent.
var (
	// ErrSessionLost says that the upstream does not know the session of a call any more,
	// so that it did nothing.
	ErrSessionLost = errors.New("upgrade: the upstream does not know the session")

	ErrShutdown = errors.New("upgrade: the berth that held the call was shut down")

	// ErrNoCredentials says that a call cannot be sent by another berth than the one that
	// took it: what authorises it is kept nowhere.
	ErrNoCredentials = errors.New("upgrade: the credentials of the call are not kept")

	// ErrCallLost says that a call cannot be sent by another berth because it is not in the
	// store, or is not what was put there.
	ErrCallLost = errors.New("upgrade: the call is not kept any more")
)

var (
	ErrTimeout = &mcp.Error{Code: mcp.CodeTimeout, Message: "the call took longer than a held call may", Reason: mcp.ReasonTimeout, Outcome: mcp.Unknown}
	ErrGarbled = &mcp.Error{Code: mcp.CodeInternal, Message: "the server's answer cannot be understood", Reason: mcp.ReasonBadUpstream, Outcome: mcp.Unknown}
	ErrUnsaved = &mcp.Error{Code: mcp.CodeInternal, Message: "the result could not be kept: too many wait for the store", Reason: mcp.ReasonStoreUnavailable, Outcome: mcp.Executed}
)

// ErrAsksTooMuch is what became of a call that asks for more than MaxAskBytes between two rounds.
var ErrAsksTooMuch = &mcp.Error{
	Code: mcp.CodeInternal, Message: "what the tool asks is too large", Reason: mcp.ReasonResultTooLarge, Outcome: mcp.Unknown,
}

// ErrNotKept is what became of a call whose outcome there is no room for: the tool has run.
var ErrNotKept = &mcp.Error{
	Code: mcp.CodeRateLimited, Reason: mcp.ReasonTooMuchKept, Outcome: mcp.Executed,
	Message: "the result could not be kept: the caller's tasks keep as much as they may until they expire; the tool has run",
}

// BadUpstream is a failure in words of berth's own about what the server did.
func BadUpstream(message string) *mcp.Error {
	return &mcp.Error{Code: mcp.CodeInternal, Message: message, Reason: mcp.ReasonBadUpstream, Outcome: mcp.Unknown}
}

// Unsent says of why a call is given up that the round of which its record says that it is sent is not.
func Unsent(why error) error { return &unsent{why} }

type unsent struct{ error }

func (u *unsent) Unwrap() error { return u.error }

// FailureOf returns the error that a task fails with, given why its call ended. It is
// the only place that does. A later round that was not executed is no call that was not: what the tool did before it asked nobody knows.
func FailureOf(err error, t *Task) *mcp.Error {
	failure := failureOf(err, t)
	if t.Answered && failure.Outcome == mcp.NotExecuted {
		failure = new(*failure)
		failure.Outcome = mcp.Unknown
	}
	return failure
}

func failureOf(err error, t *Task) *mcp.Error {
	var worded *mcp.Error
	var unanswered *exchange.SendError
	if u, ok := errors.AsType[*unsent](err); ok {
		before := *t
		before.Round--
		err, t = u.error, &before
	}
	switch {
	case errors.As(err, &worded):
		return worded
	case errors.Is(err, ErrSessionLost):
		return &mcp.Error{Code: mcp.CodeInternal, Reason: mcp.ReasonSessionLost, Outcome: mcp.NotExecuted,
			Message: "the server does not know the client's session any more; the tool did not run"}
	case errors.Is(err, ErrShutdown):
		return Lost(mcp.ReasonShutdown, "the berth that held the call was shut down", t)
	case errors.Is(err, ErrCallLost):
		return Lost(mcp.ReasonHolderLost, "the call is not kept any more", t)
	case errors.Is(err, ErrNoCredentials):
		return Lost(mcp.ReasonHolderLost, "the berth that held the call is gone, and no other one has the credentials for it", t)
	case errors.Is(err, routing.ErrNoUpstream):
		return NoUpstream("no upstream is available", fate(t.Round)) // nobody was chosen for another round
	case errors.As(err, &unanswered):
		return wordUnanswered(unanswered, t)
	case errors.Is(err, storage.ErrUnavailable):
		return &mcp.Error{Code: mcp.CodeUnavailable, Message: "the store did not take the task's steps", Reason: mcp.ReasonStoreUnavailable, Outcome: fate(t.Round)}
	}
	return brokeOff()
}

func brokeOff() *mcp.Error {
	return &mcp.Error{Code: mcp.CodeInternal, Message: "the server broke the exchange off; the tool may have run", Reason: mcp.ReasonUpstreamReset, Outcome: mcp.Unknown}
}

func wordUnanswered(e *exchange.SendError, t *Task) *mcp.Error {
	switch {
	case e.Between && !errors.Is(e, relay.ErrLost):
		return wordUnpassed(e, t)
	case !e.Sent && t.Session != "":
		return NoUpstream("the server that has the client's session cannot be reached", fate(t.Round-1))
	case !e.Sent:
		return NoUpstream("no upstream can be reached", fate(t.Round-1))
	case e.Garbled:
		return Lost(mcp.ReasonBadUpstream, "the server's answer is none in HTTP", t)
	case e.TimedOut:
		return &mcp.Error{Code: mcp.CodeTimeout, Message: "the server did not answer in time", Reason: mcp.ReasonTimeout, Outcome: mcp.Unknown}
	}
	return brokeOff()
}

// wordUnpassed words a call that failed on its way to another berth.
func wordUnpassed(e *exchange.SendError, t *Task) *mcp.Error {
	became := fate(t.Round - 1)
	if e.Sent {
		became = mcp.Unknown
	}
	w := &mcp.Error{Code: mcp.CodeUnavailable, Message: "the berth that holds this does not take the call", Reason: mcp.ReasonOwnerUnavailable, Outcome: became}
	switch {
	case errors.Is(e, storage.ErrUnavailable):
		w.Message, w.Reason = "the store does not take the call to the berth that holds this", mcp.ReasonStoreUnavailable
	case errors.Is(e, relay.ErrBusy):
		w.Message, w.Reason = "the berth that holds this has too much under way", mcp.ReasonOverloaded
	case errors.Is(e, relay.ErrTooLarge):
		w.Code, w.Message, w.Reason = mcp.CodeInvalidRequest, "the call is too large to be passed on to the berth that holds this", ""
	}
	return w
}

// NoUpstream is the failure of a call whose upstream is out of reach.
func NoUpstream(message string, fate mcp.Outcome) *mcp.Error {
	if fate == mcp.NotExecuted {
		message += "; the tool did not run"
	}
	return &mcp.Error{Code: mcp.CodeUnavailable, Message: message, Reason: mcp.ReasonNoUpstream, Outcome: fate}
}

// Lost is a failure after which nobody knows what the tool did, unless it was not called.
func Lost(reason, message string, t *Task) *mcp.Error {
	became := fate(t.Round)
	if became == mcp.NotExecuted {
		message += "; the tool did not run"
	} else {
		message += "; the tool may have run"
	}
	return &mcp.Error{Code: mcp.CodeInternal, Message: message, Reason: reason, Outcome: became}
}

// fate is what became of a call of which so many rounds may have reached an upstream.
func fate(rounds int) mcp.Outcome {
	if rounds > 0 {
		return mcp.Unknown
	}
	return mcp.NotExecuted
}

// Illegible is the failure of a task whose outcome is not UTF-8, as all JSON between systems
// is (RFC 8259, 8.1): clients could read it differently, or not at all. The tool has run.
func Illegible(t *Task) error {
	e := Lost(mcp.ReasonBadUpstream, "the server's answer is not UTF-8", t)
	e.Outcome = mcp.Executed
	return e
}

// ErrorOf returns the JSON-RPC error of an upstream's answer as it stands there, and what
// it says, for the statusMessage. What is no error that clients can read (a text, no code,
// no message) is nil: a task that bore it could be read by nobody.
func ErrorOf(message []byte) (object []byte, says string) { return Readable(mcp.ErrorObject(message)) }

// Readable is ErrorOf for the error object itself.
func Readable(object []byte) (_ []byte, says string) {
	var e struct {
		Code    *int64
		Message *string
	}
	if json.Unmarshal(object, &e) != nil || e.Code == nil || e.Message == nil {
		return nil, ""
	}
	return object, cmp.Or(mcp.OneLine(*e.Message), "the tool call failed")
}

// Refusal says which bound keeps a caller from making a task, or from being given an outcome.
type Refusal struct {
	Err    error  // ErrTooMany, ErrTooMuchKept or ErrTooMuchLent
	Reason string // the bound, as metrics name it
}

// Error implements error.
func (r *Refusal) Error() string { return r.Err.Error() + " (" + r.Reason + ")" }

// Unwrap returns Err.
func (r *Refusal) Unwrap() error { return r.Err }
