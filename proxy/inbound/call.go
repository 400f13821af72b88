package inbound

import (
	"net/netip"
	"slices"
	"time"

	"berth/internal/lapse"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/routing"
)

// Call is what a client asks with one request, as an Arrival has found out.
type Call struct {
	HTTP     *wire.Request
	Settings *Settings
	Began    time.Time // when its head was here; zero: nobody has looked

	Endpoint  *Endpoint
	Trusted   bool       // the peer's headers about others are believed
	From      netip.Addr // where the request comes from; the zero one on a network without addresses
	Origin    string     // of the page that calls, which was let in; "": no page's, or several claimed
	Principal string     // "" is nobody
	Caller    string     // who the request counts for
	Session   string     // Mcp-Session-Id in the legacy era

	Body     []byte // nil if there is none
	BodyRead bool   // Body is all of it
	Message  mcp.Message
	ID       []byte // of a single request, a batch's too, for berth's own answers
	InArray  bool   // refusals are answered as the one member of an array
	Opaque   bool   // it is passed on unread: what lies beside the MCP endpoint

	Plan

	Affinity []string // the values that keep calls together
	Key      string   // by which the picker keeps calls together; "": it does not
}

// Now is the time, as the request's own clock tells it.
func (x *Call) Now() time.Time { return lapse.Now(x.Began) }

// Single returns the one call of the request, or nil for GET, DELETE and batches.
func (x *Call) Single() *mcp.Call {
	if x.Message.Batch || len(x.Message.Calls) != 1 {
		return nil
	}
	return &x.Message.Calls[0]
}

// AnyRequest reports whether the message holds a request of such a method.
func (x *Call) AnyRequest(such func(method string) bool) bool {
	for i := range x.Message.Calls {
		if c := &x.Message.Calls[i]; c.Kind == mcp.KindRequest && such(c.Method) {
			return true
		}
	}
	return false
}

// Era is the era of the request. A GET or DELETE is legacy unless its version says
// otherwise. A modern one takes no session upstream (see isModernAlone in package outbound), so
// that the label does not take one out of its principal's hands.
func (x *Call) Era() mcp.Era {
	if len(x.Message.Calls) > 0 {
		return x.Message.Calls[0].Era
	}
	if mcp.IsModern(x.Version()) {
		return mcp.EraModern
	}
	return mcp.EraLegacy
}

// Version is the protocol version that the client claims, "" if none: its call's, or
// its header's where there is no single call.
func (x *Call) Version() string {
	if c := x.Single(); c != nil && c.Version != "" {
		return c.Version
	}
	return x.HTTP.Header.Get(mcp.HeaderVersion)
}

// Methods are the HTTP methods that the request's path has. They are not to be changed.
func (x *Call) Methods() []string {
	if isWellKnown(x.HTTP.URL.Path) {
		return ofDocuments
	}
	return ofEndpoints
}

var (
	ofDocuments = []string{wire.MethodGet, wire.MethodHead, wire.MethodOptions}
	ofEndpoints = []string{wire.MethodGet, wire.MethodPost, wire.MethodDelete, wire.MethodOptions}
)

// IsResponse reports whether the request is a client's answer to a server's request.
func (x *Call) IsResponse() bool {
	c := x.Single()
	return c != nil && c.Kind == mcp.KindResponse
}

// HasResponse reports whether an answer is among what the request bears.
func (x *Call) HasResponse() bool {
	for i := range x.Message.Calls {
		if x.Message.Calls[i].Kind == mcp.KindResponse {
			return true
		}
	}
	return false
}

// Work is the call as new work for an upstream. prefer names the one that had best get it; "": any.
func (x *Call) Work(prefer string) routing.Work {
	return routing.Work{Era: x.Era(), Prefer: prefer, Key: x.Key, Caller: x.Caller}
}

// Pool is the pool that the request is for: there is one once it is recognised.
func (x *Call) Pool() *routing.Pool { return x.Endpoint.Router.Pool }

// PoolName is the name of the pool that the request is for, "" if there is none.
func (x *Call) PoolName() string {
	if x.Endpoint == nil {
		return ""
	}
	return x.Pool().Name()
}

// MethodLabel is the method as metrics may bear it: a client cannot invent one.
func (x *Call) MethodLabel() string {
	c := x.Single()
	switch {
	case c == nil && x.Message.Batch:
		return "batch"
	case c == nil && slices.Contains(httpMethods, x.HTTP.Method):
		return x.HTTP.Method
	case c == nil:
		return OtherMethod
	case c.Kind == mcp.KindResponse:
		return "response"
	case mcp.IsKnownMethod(c.Method):
		return c.Method
	}
	return OtherMethod
}

// OtherMethod stands for all methods that berth does not know.
const OtherMethod = "other"

// httpMethods are those that a label may bear.
var httpMethods = []string{wire.MethodGet, wire.MethodPost, wire.MethodDelete, wire.MethodHead, wire.MethodOptions}

// WithBody is the call with another body in place of the client's.
func (x *Call) WithBody(body []byte) *Call {
	other := *x
	other.Body = body
	return &other
}

// Kept is the call as it may be kept when its request is over.
func (x *Call) Kept() *Call {
	kept := *x
	kept.HTTP = x.HTTP.Kept()
	return &kept
}

// AsBatch is the call as one batch, which is refused as a whole.
func (x *Call) AsBatch() *Call {
	other := *x
	other.ID, other.InArray = nil, false
	return &other
}
