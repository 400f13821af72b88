package probe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"berth/internal/client"
	"berth/internal/exchange"
	"berth/internal/mcp"
)

// reply is what became of one request.
type reply struct {
	answer *client.Answer // nil if there was none
	err    error          // why not
	unsent bool           // the request never left
	wanted bool           // it asked for a result
	scope  scope          // in which it was sent
}

// judgement is what a reply says of the thing that its request was about: a task or a
// session that is known to exist.
type judgement uint8

const (
	unsent judgement = iota // nothing: nobody was asked
	held                    // it was answered by who holds it
	lost                    // it was denied
	failed                  // nothing: there is no answer to judge by
)

// judge tells a denial from all that says nothing of where a task or a session is: no
// answer, overload, faults of the server or of the request.
func (r reply) judge() judgement {
	switch {
	case r.unsent:
		return unsent
	case r.err != nil:
		return failed
	case r.wanted && r.answer.Result != nil, !r.wanted && r.answer.Accepted():
		return held
	case r.denies():
		return lost
	}
	return failed
}

// denies reports whether the answer says that there is no such thing. Servers say it
// with 404, or with 400 and no more (TypeScript SDK v1, of sessions), or with an error
// of JSON-RPC under 200, nearly always -32602.
func (r reply) denies() bool {
	switch r.answer.Status {
	case http.StatusNotFound, http.StatusGone:
		return true
	case http.StatusOK, http.StatusBadRequest:
		return r.answer.Error == nil || !isOtherFault(r.answer.Error.Code)
	}
	return false
}

// isOtherFault reports whether a JSON-RPC error of that code is about something else
// than whether a task or session exists.
func isOtherFault(code int) bool {
	switch code {
	case mcp.CodeParse, mcp.CodeInvalidRequest, mcp.CodeInternal, mcp.CodeUnavailable, mcp.CodeTimeout,
		mcp.CodeHeaderMismatch, mcp.CodeMissingCapability, codeUnsupportedVersion, codeThrottled:
		return true
	}
	return false
}

const (
	codeUnsupportedVersion = -32022 // 2026-07-28, basic, "Error Codes"
	codeThrottled          = -31429 // berth's own, with 429
)

// noMethod reports whether the server does not have the method that was asked for.
func (r reply) noMethod() bool {
	if r.answer == nil {
		return false
	}
	return r.answer.Status == http.StatusMethodNotAllowed ||
		r.answer.Error != nil && r.answer.Error.Code == mcp.CodeMethodNotFound
}

// forbids reports whether the caller may not have what it asked for.
func (r reply) forbids() bool {
	return r.answer != nil && (r.answer.Status == http.StatusForbidden || r.answer.Status == http.StatusUnauthorized)
}

// throttles reports whether the request was turned away for its number.
func (r reply) throttles() bool {
	return r.answer != nil && r.answer.Status == http.StatusTooManyRequests
}

// timedOut reports whether no answer came in time.
func (r reply) timedOut() bool {
	send, ok := errors.AsType[*exchange.SendError](r.err)
	return ok && send.TimedOut || errors.Is(r.err, context.DeadlineExceeded)
}

// tooLate reports whether a cancel was refused because the task had ended: core answers
// that with the code of an unknown id (2025-11-25, tasks, "Task Cancellation").
func (r reply) tooLate() bool {
	if r.answer == nil || r.answer.Error == nil {
		return false
	}
	message := strings.ToLower(r.answer.Error.Message)
	return strings.Contains(message, "terminal") || strings.Contains(message, "already ")
}

// String is what was answered, for a report.
func (r reply) String() string {
	switch {
	case r.err != nil:
		return r.err.Error()
	case r.answer.Error != nil:
		return fmt.Sprintf("HTTP %d, %d %q", r.answer.Status, r.answer.Error.Code, printable(r.answer.Error.Message, 80))
	}
	return fmt.Sprintf("HTTP %d", r.answer.Status) + r.elsewhere()
}

// elsewhere is where a redirect leads, which is most likely where the probe should have
// been pointed: https, a slash, a page to log in at. What stands in its query may be
// the caller's.
func (r reply) elsewhere() string {
	to, err := url.Parse(r.answer.Header.Get("Location"))
	if r.answer.Status/100 != 3 || err != nil || to.Path == "" && to.Host == "" {
		return ""
	}
	place := url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}
	return fmt.Sprintf(", a redirect to %s, which is not followed", printable(place.String(), 80))
}
