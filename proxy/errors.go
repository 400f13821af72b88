package proxy

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/routing"
)

// What is refused or fails outside of routing and exchange.
var (
	errNotFound        = errors.New("proxy: no such endpoint")
	errForbiddenHost   = errors.New("proxy: host not allowed")
	errForbiddenOrigin = errors.New("proxy: origin not allowed")
	errTooManyHeaders  = errors.New("proxy: too many headers")
	errCriticalHop     = errors.New("proxy: Connection names a header that must arrive")
	errMethod          = errors.New("proxy: HTTP method not allowed")
	errEncodedBody     = errors.New("proxy: request body is encoded")
	errBodyTooLarge    = errors.New("proxy: request body too large")
	errBodySlow        = errors.New("proxy: request body did not arrive in time")
	errClientGone      = errors.New("proxy: client gone")
	errBadUpstream     = errors.New("proxy: answer of the upstream cannot be understood")
	errRedirect        = errors.New("proxy: upstream redirects")
	errCollision       = errors.New("proxy: task id owned by another upstream")
	errOwnerSilent     = errors.New("proxy: owner does not answer")
	errPanicked        = errors.New("proxy: panic")
)

const retrySoon = time.Second

// ladder turns an error into the answer for the client. It is the only place
// that does. nil means that nobody is there to be answered.
func (x *request) ladder(err error) *mcp.Error {
	var worded *mcp.Error
	var failed *exchange.SendError
	switch {
	case errors.As(err, &worded):
		return worded
	case errors.Is(err, errClientGone), errors.Is(err, context.Canceled) && x.r.Context().Err() != nil:
		return nil
	case errors.Is(err, routing.ErrUnknownTask), errors.Is(err, mcp.ErrTaskID):
		return x.unknownTask()
	case errors.Is(err, routing.ErrUndeclared):
		return x.undeclared()
	case errors.Is(err, routing.ErrUnknownSession):
		return mcp.ErrUnknownSession()
	case errors.Is(err, routing.ErrNoListing):
		return mcp.ErrNoSuchMethod()
	case errors.Is(err, routing.ErrSeveralOwners):
		return refused(http.StatusBadRequest, mcp.CodeInvalidRequest, "the batch is about tasks of several owners")
	case errors.Is(err, routing.ErrNoUpstream):
		return unavailable(mcp.ReasonNoUpstream, "no upstream is available")
	case errors.Is(err, routing.ErrOwnerGone), errors.Is(err, errOwnerSilent):
		return unavailable(mcp.ReasonOwnerUnavailable, "the server instance that holds this does not answer")
	case errors.Is(err, routing.ErrUnclear):
		return unavailable(mcp.ReasonUnreachable, "part of the fleet did not say whether it knows this id")
	case errors.Is(err, routing.ErrBusy):
		return unavailable(mcp.ReasonOverloaded, "too many unknown ids are being asked for")
	case errors.Is(err, storage.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return unavailable(mcp.ReasonStoreUnavailable, "the store of bindings is not available")
	case errors.As(err, &failed):
		return x.sendFailed(failed)
	}
	return x.refusal(err)
}

// refusal words what concerns HTTP and the answer's form.
func (x *request) refusal(err error) *mcp.Error {
	switch {
	case errors.Is(err, errNotFound):
		return refused(http.StatusNotFound, mcp.CodeInvalidRequest, "no MCP endpoint here")
	case errors.Is(err, errForbiddenHost):
		return refused(http.StatusForbidden, mcp.CodeInvalidRequest, "host not allowed")
	case errors.Is(err, errForbiddenOrigin):
		return refused(http.StatusForbidden, mcp.CodeInvalidRequest, "origin not allowed")
	case errors.Is(err, errTooManyHeaders):
		return refused(http.StatusRequestHeaderFieldsTooLarge, mcp.CodeInvalidRequest, "too many headers")
	case errors.Is(err, errCriticalHop):
		return refused(http.StatusBadRequest, mcp.CodeInvalidRequest, "Connection names a header that must arrive")
	case errors.Is(err, errMethod):
		return refused(http.StatusMethodNotAllowed, mcp.CodeInvalidRequest, "method not allowed")
	case errors.Is(err, errEncodedBody):
		return refused(http.StatusUnsupportedMediaType, mcp.CodeInvalidRequest, "encoded request bodies are not accepted")
	case errors.Is(err, errBodyTooLarge):
		return refused(http.StatusRequestEntityTooLarge, mcp.CodeInvalidRequest, "request body too large")
	case errors.Is(err, errBodySlow):
		return refused(http.StatusRequestTimeout, mcp.CodeInvalidRequest, "request body did not arrive in time")
	case errors.Is(err, errBadUpstream), errors.Is(err, errRedirect):
		return &mcp.Error{Status: http.StatusBadGateway, Code: mcp.CodeInternal, Message: "the upstream's answer cannot be used", Reason: mcp.ReasonBadUpstream}
	case errors.Is(err, errCollision):
		return &mcp.Error{Status: http.StatusBadGateway, Code: mcp.CodeInternal, Message: "the upstream gave out a task id that another upstream owns", Reason: mcp.ReasonCollision}
	}
	return &mcp.Error{Status: http.StatusInternalServerError, Code: mcp.CodeInternal, Message: "internal error"}
}

// unknownTask words an unknown id. What the modern era has no method for is
// refused as such, whether the id exists or not.
func (x *request) unknownTask() *mcp.Error {
	if c := x.call(); c != nil && c.Era == mcp.EraModern && c.Method == mcp.MethodTaskResult {
		return mcp.ErrNoSuchMethod()
	}
	return mcp.ErrUnknownTask()
}

func (x *request) undeclared() *mcp.Error {
	if e := x.unknownTask(); e.Code == mcp.CodeMethodNotFound {
		return e
	}
	return mcp.ErrMissingTasks()
}

// sendFailed words a request that got no answer. What may have reached the
// upstream must not look as if it could be repeated, unless it was a read.
func (x *request) sendFailed(e *exchange.SendError) *mcp.Error {
	switch {
	case !e.Sent:
		return unavailable(mcp.ReasonNoUpstream, "no upstream can be reached")
	case e.TimedOut:
		return &mcp.Error{Status: http.StatusGatewayTimeout, Code: mcp.CodeTimeout, Message: "the upstream did not answer in time", Reason: mcp.ReasonTimeout, RetryAfter: x.retryRead()}
	}
	return &mcp.Error{Status: http.StatusBadGateway, Code: mcp.CodeInternal, Message: "the upstream broke the exchange off", Reason: mcp.ReasonUpstreamReset, RetryAfter: x.retryRead()}
}

// retryRead is when a read may be tried again; 0 for what is none.
func (x *request) retryRead() time.Duration {
	if x.readsOnly() {
		return retrySoon
	}
	return 0
}

func refused(status, code int, message string) *mcp.Error {
	return &mcp.Error{Status: status, Code: code, Message: message}
}

func unavailable(reason, message string) *mcp.Error {
	return &mcp.Error{Status: http.StatusServiceUnavailable, Code: mcp.CodeUnavailable, Message: message, Reason: reason, RetryAfter: retrySoon}
}

// fail answers the client with what the ladder says of err. After headers are out
// an answer can only be broken off.
func (x *request) fail(err error) {
	x.err = err
	answer := x.ladder(err)
	if answer == nil {
		return
	}
	if x.status != 0 {
		panic(http.ErrAbortHandler)
	}
	x.answer(answer)
}

// answer writes an error of our own as the whole answer.
func (x *request) answer(e *mcp.Error) {
	h := x.w.Header()
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((e.RetryAfter+time.Second-1)/time.Second)))
	}
	if e.Status == http.StatusMethodNotAllowed {
		h.Set("Allow", strings.Join(x.methods(), ", "))
	}
	if x.r.ContentLength != 0 && !x.bodyRead {
		h.Set("Connection", "close") // the answer must not wait for the rest of the body
	}
	x.code = e.Code
	x.respond(e.Status, e.Body(x.id))
}

// respond writes a JSON answer of our own.
func (x *request) respond(status int, body []byte) {
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.writeHeader(status)
	if err := x.write(body); err != nil && x.err == nil {
		x.err = err
	}
}
