package fault

import (
	"errors"

	"berth/internal/mcp"
	"berth/internal/wire"
)

// What is refused or fails outside of routing and exchange, in the words that the
// client gets.
var (
	NotFound        = Refused(wire.StatusNotFound, "no MCP endpoint here")
	ForbiddenHost   = Refused(wire.StatusForbidden, "host not allowed")
	ForbiddenOrigin = Refused(wire.StatusForbidden, "origin not allowed")
	TooManyHeaders  = Refused(wire.StatusRequestHeaderFieldsTooLarge, "too many headers")
	CriticalHop     = Refused(wire.StatusBadRequest, "Connection names a header that must arrive")
	Method          = Refused(wire.StatusMethodNotAllowed, "method not allowed")
	EncodedBody     = Refused(wire.StatusUnsupportedMediaType, "encoded request bodies are not accepted")
	BodyTooLarge    = Refused(wire.StatusRequestEntityTooLarge, "request body too large")
	BodySlow        = Refused(wire.StatusRequestTimeout, "request body did not arrive in time")
	BodyUnread      = &mcp.Error{Status: wire.StatusBadRequest, Code: mcp.CodeParse, Message: "the body could not be read"}
	SeveralSessions = Refused(wire.StatusBadRequest, "several Mcp-Session-Id values")
	NoBatches       = Refused(wire.StatusBadRequest, "this protocol version has no batches")
	// Where callers are told apart: some servers read a body whatever the method, and take
	// it for a call.
	BodyBesidePost = Refused(wire.StatusBadRequest, "only a POST has a body")
	// The era of subscriptions has no batches, and in one it could not be narrowed.
	ListenInBatch   = Refused(wire.StatusBadRequest, "a subscription stands in a batch")
	RequiredInBatch = Refused(wire.StatusBadRequest, "a tool that is called as a task only stands in a batch")
	// Whom an answer is for could be told only if it stood alone.
	AnswersMoved = Refused(wire.StatusBadRequest, "a batch bears answers, and the session has moved")
	BadUpstream  = Broken(mcp.ReasonBadUpstream, "the upstream's answer cannot be used")
	Redirect     = Broken(mcp.ReasonBadUpstream, "the upstream redirects, which is not followed")
	// 2025-11-25, transports, "Session Management": a session's id is visible ASCII.
	OddSession     = Broken(mcp.ReasonBadUpstream, "the upstream's session id is too long, or not visible ASCII")
	OddTask        = Withheld(mcp.ReasonBadUpstream, "the upstream's task id is too long, or holds control characters")
	AnswerTooLarge = Withheld(mcp.ReasonAnswerTooLarge, "the upstream's answer is too large")
	Collision      = Withheld(mcp.ReasonCollision, "the upstream gave out a task id that another upstream owns")
	OwnerCut       = MayHaveRun(OwnerSilent)
	OwnerSilent    = Unavailable(mcp.ReasonOwnerUnavailable, "the server instance that holds this does not answer")
	EndUntold      = Unavailable(mcp.ReasonOwnerUnavailable, "the task has ended, and the server instance that holds this does not tell of it any more")
	OwnerElsewhere = Unavailable(mcp.ReasonOwnerUnavailable, "the task is at another server instance by now")
	LongID         = Refused(wire.StatusBadRequest, "request id too long")
	Overloaded     = Unavailable(mcp.ReasonOverloaded, "too much is under way")
	Draining       = Unavailable(mcp.ReasonDraining, "this berth is about to end")
	// The words of 2025-11-25, "Task Negotiation", for a tool that must be called as a task.
	TaskRequired = &mcp.Error{Status: wire.StatusOK, Code: mcp.CodeMethodNotFound, Message: "this tool is called as a task only"}
	TooManyTasks = Limited(mcp.ReasonTooManyTasks, "too many tasks are live")
	TooMuchKept  = Limited(mcp.ReasonTooMuchKept, "tasks of this caller keep as much as they may until they expire")
	TooMuchLent  = Limited(mcp.ReasonTooMuchKept, "results that this caller is being given and has not read fill the memory")
	Internal     = &mcp.Error{Status: wire.StatusInternalServerError, Code: mcp.CodeInternal, Message: "internal error", Outcome: mcp.Unknown}
)

// What a caller is told who takes more than one may; load.tooMuch says until when.
var (
	TooManyPolls   = Limited(mcp.ReasonRateLimited, "tasks are asked for too often")
	TooManyUnknown = Limited(mcp.ReasonRateLimited, "too many unknown ids are asked for")
	TooManyCalls   = Limited(mcp.ReasonTooManyCalls, "too many calls are under way")
	TooManyStreams = Limited(mcp.ReasonTooManyStreams, "too many streams are open")

	TooManySessions = Limited(mcp.ReasonTooManySessions, "sessions of this caller that are in use keep as much as they may")

	TooManyToolCalls = Limited(mcp.ReasonRateLimited, "this tool is called too often")
)

// ErrClientGone says that nobody is there to be answered.
var ErrClientGone = errors.New("proxy: client gone")

// ErrNobodyLeft says that no upstream serves the subscription any more.
var ErrNobodyLeft = errors.New("proxy: no upstream serves the subscription any more")

// What a list of a pool's tasks fails with.
var (
	ListSilent = Unavailable(mcp.ReasonOwnerUnavailable, "a server instance does not answer, so the list of tasks would not be whole")
	ListUneven = Unavailable(mcp.ReasonOwnerUnavailable, "a server instance does not list its tasks, so the list would not be whole")
	ListsBusy  = Unavailable(mcp.ReasonOverloaded, "too many lists of tasks are being made")
)

// ListStarved is Overloaded of a list for which this process has no file descriptor or port left.
var ListStarved = errors.Join(Overloaded, errors.New("proxy: no connection to an upstream can be made"))

// What is wrong with an Idempotency-Key.
var (
	OnceForm = Refused(wire.StatusBadRequest, "Idempotency-Key must be one value of 1 to 255 bytes")
	// The status that draft-ietf-httpapi-idempotency-key gives a key that was used for
	// another request; its 409 is for a request that may be repeated.
	OnceReused = &mcp.Error{
		Status: wire.StatusUnprocessableEntity, Code: mcp.CodeInvalidRequest,
		Message: "the Idempotency-Key was used for another call", Reason: mcp.ReasonKeyReused,
	}
	OnceUnsettled = MayHaveRun(Unavailable(mcp.ReasonStoreUnavailable,
		"it is not known yet whether the first call with this Idempotency-Key is recorded: send it again with that key"))
	StepUnknown = MayHaveRun(Unavailable(mcp.ReasonStoreUnavailable, "the store has not said whether it has taken this step"))
)

// What ends an event stream whose client still waits for a response, and cannot resume it.
// Published clients take a stream that just ends for one that goes on, and wait for ever.
var (
	StreamReset    = Broken(mcp.ReasonUpstreamReset, "the upstream broke the stream off before its response")
	StreamShutdown = Broken(mcp.ReasonShutdown, "this berth ends before the response came")
)

// Cancelled answers a request that its client has cancelled, and its server did not answer. The client is told though it need not be: to
// some a stream that ends without the response is broken, and they resume it.
var Cancelled = errors.Join(Lost(mcp.ReasonGivenUp, "its client has cancelled the request; the tool may have run"), ErrClientGone)

// What a request to berth as the server of a task lacks.
var (
	ContentType  = Refused(wire.StatusUnsupportedMediaType, "the body is not declared as application/json")
	Accept       = Refused(wire.StatusNotAcceptable, "Accept does not allow application/json and text/event-stream")
	NoSuchLegacy = Refused(wire.StatusBadRequest, "MCP-Protocol-Version names no protocol version")
)

// NoWord refuses a caller whose credentials nobody could judge.
var NoWord = Unavailable(mcp.ReasonNoUpstream, "no upstream says whether it takes these credentials")

// NoTaskSupport refuses a call that asks to be a task, of a tool that is called plainly
// only (2025-11-25, tasks, "Tool-Level Negotiation").
var NoTaskSupport = &mcp.Error{Status: wire.StatusOK, Code: mcp.CodeMethodNotFound, Message: "this tool is not called as a task"}

// NotInCore answers a method that 2025-11-25 does not have, or a server that did not
// announce it. In a session 404 would be the end of that.
var NotInCore = &mcp.Error{Status: wire.StatusOK, Code: mcp.CodeMethodNotFound, Message: "Method not found"}

// What a held call's task fails with.
var (
	ResultTooLarge = &mcp.Error{Code: mcp.CodeInternal, Message: "the server's answer is larger than the rule allows", Reason: mcp.ReasonResultTooLarge, Outcome: mcp.Executed}
	NotJSON        = &mcp.Error{Code: mcp.CodeInternal, Message: "the server's answer is not in JSON, or encoded", Reason: mcp.ReasonBadUpstream, Outcome: mcp.Executed}
	EventTooLarge  = &mcp.Error{Code: mcp.CodeInternal, Message: "an event of the server's answer is larger than the rule allows", Reason: mcp.ReasonEventTooLarge, Outcome: mcp.Unknown}
)

// SessionEnded is what a server is told that waits for an answer of a client which has
// ended the session.
var SessionEnded = &mcp.Error{Code: mcp.CodeInternal, Message: "the client has ended the session"}
