package exchange

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"berth/internal/wire"
)

// Request is what is sent to an upstream, once.
type Request struct {
	Method string
	URL    *url.URL
	Host   string       // "": the URL's
	Header *wire.Header // of the request alone: it may be changed while that is sent
	Body   []byte       // nil: none
	Modern bool         // it is of the modern era by its body, whatever its headers say; false: these tell
	GoesOn bool         // it may go on with a call that has asked its client, as its body tells
	Meets  bool         // its answer tells what the upstream speaks: server/discover
	Caller string       // names whose request it is; "": nobody's
	Unsent Unsent       // what else tells that where Caller is ""
	Begun  time.Time    // of this exchange, by who has read the clock: its wait counts from then; zero: from Send

	// Until is when nobody wants its answer any more, of a call that may ask its client meanwhile; zero: as long as its client waits.
	Until time.Time

	// Renewal is what its caller bears by now, of a request that goes on for long; nil: the same.
	Renewal Renewal

	// Leaves is closed once whoever sends it would rather have another berth go on with its call: an answer may then be what leads there, and nothing
	// else (2026-07-28, multi round-trip requests). nil: it never is.
	Leaves <-chan struct{}

	// Written is set by a Sender that returns an answer, and looks at the request no more: then that, its
	// header and its body may be used again. Any other has them for good.
	Written bool
}

// Unsent is what a caller without a name authenticates with and its request does not bear on the way upstream. The zero value is nothing.
type Unsent struct {
	Authorization bool   // what stands there, if anything, is berth's own
	Digest        string // of it all; "" is none
}

// Renewal knows what a caller bears whose credentials may have changed since its request. It is used by many goroutines at once.
type Renewal interface {
	// Header is that of a request of its caller's by now, for who asks alone, beside what is of one call; nil: the same as before.
	Header() *wire.Header
	// Refused notes that the upstream does not take what is borne: then the next request of its caller's is looked at.
	Refused()
}

// Sender sends requests to upstreams. It is used by many goroutines at once.
type Sender interface {
	// Send sends request once and returns the answer when its headers are there, within
	// wait (0: no limit). A failure is a *SendError. ctx bounds the whole exchange; closing
	// the answer's body ends it.
	Send(ctx context.Context, request *Request, wait time.Duration) (*wire.Response, error)
	// Close closes idle connections. Exchanges that are under way go on.
	Close()
}

// SendError says how a request failed before an answer's headers were there, or that
// what was answered is none.
type SendError struct {
	Err      error // the cause; that of the request's context, if this ended the exchange
	Sent     bool  // some of the request may have reached the upstream
	Refused  bool  // nobody listens at the upstream's address
	TimedOut bool  // no connection, or no answer's headers, in time
	Starved  bool  // this process has no file descriptor or port left: nobody was tried
	Garbled  bool  // what was answered is no answer in HTTP; Sent, and its connection is closed
	Anew     bool  // what was not sent begins a call anew that has asked its client: another upstream may have it
	Between  bool  // the way failed to another berth, which was to send the request; with Sent that berth may have

	// Unstarted says that the upstream is a server that this process runs, and cannot start; Refused. Err is an *mcp.Error
	// that says why.
	Unstarted bool
}

// Error describes the failure for logs. Whichever time was over, berth's for the headers or that of the
// whole request, it reads the same.
func (e *SendError) Error() string {
	cause := e.Err
	if errors.Is(cause, context.DeadlineExceeded) {
		cause = ErrNotInTime
	}
	return fmt.Sprintf("exchange: %v", cause)
}

// IsOwn reports whether the failure is of what stands before the upstream, and says nothing of that.
func (e *SendError) IsOwn() bool { return e.Starved || e.Between }

// Unwrap returns the cause.
func (e *SendError) Unwrap() error { return e.Err }
