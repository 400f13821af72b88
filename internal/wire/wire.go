package wire

import (
	"context"
	"crypto/tls"
	"io"
	"net/netip"
	"net/url"
	"time"
)

// The methods that berth speaks of.
const (
	MethodGet     = "GET"
	MethodHead    = "HEAD"
	MethodPost    = "POST"
	MethodDelete  = "DELETE"
	MethodOptions = "OPTIONS"
)

// Request is what a client asks. It, its header and its body are lent until it has been answered; its
// strings may be kept.
type Request struct {
	Method        string
	URL           *url.URL // absolute only if the client wrote it so
	Host          string
	Header        *Header
	Body          io.Reader
	ContentLength int64 // -1: not known
	ProtoMajor    int
	ProtoMinor    int
	RemoteAddr    string               // "address:port" of the peer
	Peer          netip.Addr           // RemoteAddr's address; the zero one: it was not read out
	TLS           *tls.ConnectionState // nil: the connection has none

	context context.Context
}

// WithContext gives the request the context that its client's departure ends.
func (r *Request) WithContext(ctx context.Context) *Request {
	r.context = ctx
	return r
}

// Kept is the request as it may be kept for longer than it is lent, less its body.
func (r *Request) Kept() *Request {
	kept := *r
	kept.Header, kept.Body = r.Header.Clone(), nil
	if r.URL != nil {
		at := *r.URL
		kept.URL = &at
	}
	return &kept
}

// Context ends when the client goes away, or its answer has ended. It may be kept.
func (r *Request) Context() context.Context { return r.context }

// Response is the answer of an upstream, or one in its place, its body still to be read. It and its header are lent until
// the body is closed; its strings may be kept.
type Response struct {
	Status        int
	Phrase        string // what that status is registered as, "" if it is not
	Header        *Header
	Body          io.ReadCloser // closing it ends the exchange
	ContentLength int64         // -1: not known
	ProtoMajor    int
	ProtoMinor    int
	Own           bool // berth has made it, whatever a server said: berth says which pages may read it
	Unasked       bool // berth itself has turned the request away before any server had it: it says nothing of one
}

// Client is where the answer to a request goes.
type Client interface {
	// Header is what WriteHeader sends.
	Header() *Header
	// WriteHeader sends the status and the header, once.
	WriteHeader(status int)
	// Write sends some of the body.
	Write(b []byte) (int, error)
	// Flush sends what was written so far.
	Flush() error
	// SetReadDeadline and SetWriteDeadline bound reading the body and writing the answer;
	// the zero time lifts the bound. They fail where the connection has no deadlines.
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
}

// Holder is a Client whose answer can go on when who was asked has returned.
type Holder interface {
	Client
	// Hold keeps the client and its request lent, which may be used from any goroutine, one at a time, until end is called:
	// once, when the answer is over. whole is as who was asked would return it, which is not heeded then. A header that was
	// sent is given back.
	Hold() (end func(whole bool))
}

// Ending is a context that knows by itself what is to be done at its end, and takes it back. It costs less than what
// [context.AfterFunc] puts before a context, and stands for as long.
type Ending interface {
	context.Context
	// OnEnd is context.AfterFunc of this context, but that stop is false also where the end has come and f is still to begin.
	OnEnd(f func()) (stop func() bool)
}

// Waiter is a body that can be waited for.
type Waiter interface {
	// Wait returns when Read has something to tell, or would have to wait within what has come. It holds no memory
	// meanwhile, and little of the stack; the answer's header is given back. The body may be closed while it waits.
	Wait()
	// Await has ready called, once and in a goroutine of its own, when Wait would return, and nobody waits until then. It
	// reports false where that cannot be, and whoever asks had better wait.
	Await(ready func()) bool
}
