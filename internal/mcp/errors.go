package mcp

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// JSON-RPC and MCP error codes that berth words. Its own lie outside what these reserve, -32768 …
// -32000.
const (
	CodeParse              = -32700
	CodeInvalidRequest     = -32600
	CodeMethodNotFound     = -32601
	CodeInvalidParams      = -32602
	CodeInternal           = -32603
	CodeBadRequest         = -32000 // of servers' own making: SDKs refuse with it what has no session, or no place in one
	codeNoSession          = -32001 // SDKs, which have it for a time-out as well
	CodeNoResource         = -32002 // 2025-11-25, resources, "Error Handling"
	CodeHeaderMismatch     = -32020 // 2026-07-28, Streamable HTTP, "Server Validation"
	CodeMissingCapability  = -32021 // 2026-07-28, basic, "Error Codes"
	CodeUnsupportedVersion = -32022 // 2026-07-28, basic, "Error Codes"
	CodeElicitFirst        = -32042 // 2025-11-25, elicitation, "URL Elicitation Required Error"
	CodeRateLimited        = -31429 // the caller takes more than its share; try again later
	CodeUnavailable        = -31503 // nothing is known to be wrong with the request; try again
	CodeTimeout            = -31504 // the upstream did not answer in time
)

// IsUsual reports whether a code of JSON-RPC is one that it, a published revision, an SDK or berth itself has: servers may have any others.
func IsUsual(code int) bool {
	return JudgesRequest(code) || slices.Contains([]int{CodeInternal, CodeBadRequest, codeNoSession, CodeNoResource, CodeElicitFirst, CodeRateLimited, CodeUnavailable, CodeTimeout}, code)
}

// JudgesRequest reports whether an error with this code is about the request as such, so that what
// it asks for was not begun.
func JudgesRequest(code int) bool {
	return slices.Contains([]int{CodeParse, CodeInvalidRequest, CodeMethodNotFound, CodeInvalidParams,
		CodeHeaderMismatch, CodeMissingCapability, CodeUnsupportedVersion}, code)
}

// DemandsTasks reports whether an answer refuses a request because that does not declare the Tasks extension.
func DemandsTasks(answer []byte) bool {
	var m struct {
		Error struct {
			Code float64 `json:"code"`
			Data struct {
				Required struct {
					Extensions map[string]json.RawMessage `json:"extensions"`
				} `json:"requiredCapabilities"`
			} `json:"data"`
		} `json:"error"`
	}
	if json.Unmarshal(Unmarked(answer), &m) != nil || m.Error.Code != CodeMissingCapability {
		return false
	}
	_, names := m.Error.Data.Required.Extensions[TasksExtension]
	return names
}

// Reasons: the `data.reason` of errors that berth words itself.
const (
	ReasonStoreUnavailable = "store_unavailable"
	ReasonOwnerUnavailable = "owner_unavailable"
	ReasonNoUpstream       = "no_upstream"
	ReasonOverloaded       = "overloaded"
	ReasonUpstreamsFull    = "upstreams_full"
	ReasonDraining         = "draining"
	ReasonTimeout          = "upstream_timeout"
	ReasonBadUpstream      = "bad_upstream_response"
	ReasonCollision        = "task_id_collision"
	ReasonUpstreamReset    = "upstream_reset"
	ReasonRateLimited      = "rate_limited"
	ReasonTooManyCalls     = "too_many_calls"
	ReasonTooManyStreams   = "too_many_streams"
	ReasonTooManySessions  = "too_many_sessions"
	ReasonAnswerTooLarge   = "answer_too_large"
	ReasonKeysUnavailable  = "keys_unavailable"
	ReasonHolderLost       = "holder_lost"
	ReasonSessionLost      = "session_lost"
	ReasonGivenUp          = "given_up"
	ReasonShutdown         = "shutdown"
	ReasonResultTooLarge   = "result_too_large"
	ReasonEventTooLarge    = "event_too_large"
	ReasonTooManyTasks     = "too_many_tasks"
	ReasonTooMuchKept      = "too_much_kept"
	ReasonKeyReused        = "idempotency_key_reused"
)

// Error is an answer that berth words: an HTTP status and a JSON-RPC error. Zero values leave their
// members out.
type Error struct {
	Status     int           // HTTP status
	Code       int           // JSON-RPC error code
	Message    string        // one sentence; never holds what a client sent
	Reason     string        // data.reason
	RetryAfter time.Duration // > 0: retryable, and after how long (Retry-After, data.retryAfterMs)
	Data       any           // replaces the data that Reason, RetryAfter and Outcome make

	// Outcome is data.outcome, and data.mayHaveExecuted for those who ask no more than that.
	Outcome Outcome

	Challenge string // WWW-Authenticate: how to authorise the request
}

// Error describes e for logs.
func (e *Error) Error() string {
	s := strconv.Itoa(e.Code) + " " + e.Message
	if e.Reason != "" {
		s += " (" + e.Reason + ")"
	}
	return s
}

// Outcome is what became of a call that failed: one that was not executed may be repeated by
// whoever made it.
type Outcome string

const (
	NotExecuted Outcome = "not_executed" // no upstream got all of it, or the one that did refused it
	Unknown     Outcome = "unknown"      // an upstream may have got it, and did not say what became of it
	Executed    Outcome = "executed"     // an upstream has answered it; the answer is withheld or lost
)

type errorData struct {
	Reason          string  `json:"reason,omitempty"`
	Retryable       bool    `json:"retryable"`
	RetryAfterMs    int64   `json:"retryAfterMs,omitempty"`
	MayHaveExecuted *bool   `json:"mayHaveExecuted,omitempty"`
	Outcome         Outcome `json:"outcome,omitempty"`
}

func (e *Error) data() any {
	if e.Data != nil || e.Reason == "" && e.Outcome == "" {
		return e.Data
	}
	d := errorData{Reason: e.Reason, Retryable: e.RetryAfter > 0, RetryAfterMs: e.RetryAfter.Milliseconds(), Outcome: e.Outcome}
	if e.Outcome != "" {
		d.MayHaveExecuted = new(e.Outcome != NotExecuted)
	}
	return d
}

// Object returns the JSON-RPC error object, as a failed task bears it too.
func (e *Error) Object() []byte {
	// Marshal cannot fail: Data holds plain structs and maps only.
	object, _ := json.Marshal(struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}{e.Code, e.Message, e.data()})
	return object
}

// Body returns the error response for the request with this id; nil leaves the member out, as MCP
// wants where it could not be read.
func (e *Error) Body(id []byte) []byte {
	// Marshal cannot fail: id is JSON that was parsed before.
	body, _ := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id,omitempty"`
		Error   json.RawMessage `json:"error"`
	}{"2.0", id, e.Object()})
	return body
}

// Refusals of a client's message.

func errParse() *Error {
	return &Error{Status: 400, Code: CodeParse, Message: "the body is not one JSON value in UTF-8"}
}

func errInvalid(message, reason string) *Error {
	return &Error{Status: 400, Code: CodeInvalidRequest, Message: message, Reason: reason}
}

// ErrParams refuses what is wrong with the params of a request.
func ErrParams(message string) *Error {
	return &Error{Status: 200, Code: CodeInvalidParams, Message: "Invalid params: " + message}
}

// errMalformed is for a modern request without the metadata that each must have, or with some of another kind (2026-07-28, basic,
// "_meta").
func errMalformed(message string) *Error {
	return &Error{Status: 400, Code: CodeInvalidParams, Message: "Invalid params: " + message}
}

// longestRequested bounds how much of a version is repeated to its client, in bytes.
const longestRequested = 64

func errUnsupported(version string) *Error {
	return &Error{Status: 400, Code: CodeUnsupportedVersion, Message: "Unsupported protocol version", Data: struct {
		Supported []string `json:"supported"`
		Requested string   `json:"requested"`
	}{[]string{versionModern}, strings.ToValidUTF8(version[:min(len(version), longestRequested)], "")}}
}

// ErrMismatch refuses a message of which a header says something else than its body (2026-07-28, Streamable HTTP, "Server Validation").
func ErrMismatch(message string) *Error {
	return &Error{Status: 400, Code: CodeHeaderMismatch, Message: "Header mismatch: " + message}
}

// Answers of berth's own to what is well formed. They are shared, and never changed.
var (
	// ErrUnknownTask answers a task id that does not exist, has expired or is another's. Which of
	// these must not show.
	ErrUnknownTask = &Error{Status: 200, Code: CodeInvalidParams, Message: "Task not found"}

	// ErrNoTaskID answers a request about a task that names none.
	ErrNoTaskID = ErrParams("taskId is missing")

	// ErrInvalidTaskID answers a request that is to become a task of an impossible id.
	ErrInvalidTaskID = &Error{Status: 200, Code: CodeInvalidParams, Message: "Invalid task id"}

	// ErrInvalidCursor answers a cursor that is not good for this caller, or not any more
	// (2025-11-25, "Listing Tasks"): the list begins anew.
	ErrInvalidCursor = &Error{Status: 200, Code: CodeInvalidParams, Message: "Invalid cursor"}

	// ErrNoSuchMethod answers a method that the era does not have.
	ErrNoSuchMethod = &Error{Status: 404, Code: CodeMethodNotFound, Message: "Method not found"}

	// ErrMissingTasks answers a modern task call without the Tasks extension ("Capability
	// Negotiation").
	ErrMissingTasks = &Error{
		Status: 400, Code: CodeMissingCapability, Message: "Missing required client capability",
		Data: map[string]any{"requiredCapabilities": map[string]any{
			"extensions": map[string]any{TasksExtension: struct{}{}},
		}},
	}

	// ErrUnknownSession has the client initialize anew (2025-11-25, transports, "Session
	// Management").
	ErrUnknownSession = &Error{Status: 404, Code: CodeInvalidRequest, Message: "Session not found"}
)
