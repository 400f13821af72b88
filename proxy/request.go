package proxy

import (
	"context"
	"slices"
	"strings"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/routing"
	"berth/sticky"
)

// maxRequestID bounds the JSON-RPC id of a request, in bytes: answers of berth's own
// repeat it, and a standing stream keeps it.
const maxRequestID = 1 << 10

// request is one request of a client on its way through the proxy. It lives in
// one goroutine.
type request struct {
	p *Proxy
	w wire.Client
	r *wire.Request

	endpoint   *Endpoint
	trusted    bool   // the peer's headers about others are believed
	origin     string // of the page that calls, which was let in; "": no page's, or several claimed
	principal  string // "" is nobody
	held       admission
	credential string // digest of what the caller authenticates with
	session    string // Mcp-Session-Id in the legacy era

	body     []byte // nil if there is none
	bodyRead bool   // body is all of it
	message  mcp.Message
	id       []byte // of a single request, a batch's too, for our own answers
	inArray  bool   // refusals are answered as the one member of an array
	decision routing.Decision
	ctx      context.Context // of the upstream's side; set by forward
	opaque   bool            // passed through unread: what lies beside the MCP endpoint

	affinity []string // the values that keep calls together
	left     string   // name of the lost upstream that one of them was bound to

	made madeTasks // what became of Decision.Made
	told string    // id of the task that the answer belongs to, as it has said last
	sent bool      // some of the request may have reached an upstream

	alias     string // what the session is called at the upstream; "": what the client calls it
	movedFrom string // the upstream that the session was moved away from for this request

	stopgap *stopgap // what keeps the client waiting; nil: nothing

	flight    *flight      // the poll that this request leads; nil: none
	disembark func()       // ends it
	changes   []sticky.Key // tasks and sessions that the request may change

	handed string // id of the task that berth made of the call, once its client has it

	newSession   string // the session that the answer hands out
	boundSession bool   // it is bound

	announces string // the method by whose answer clients learn what can be a task; "": another
	promised  string // what that promises of tasks, as sticky.Binding.Tasks has it

	owed debt // the responses that an event stream is still to bring

	// What finish reports.
	started    time.Time
	begun      time.Time // when the answer's header was written
	attempts   int       // requests to upstreams, but for those of a list or a subscription
	holder     string    // the berth that holds the call of the task
	span       spans
	upstream   string // name of the last one that was sent to
	status     int    // 0: no header written yet
	code       int    // JSON-RPC error code, 0 if none was seen
	toolFailed bool   // the result says isError
	written    int64  // bytes of the answer's body
	aborted    bool   // the answer must not end as if it were whole
	err        error  // why berth refused or failed; nil if an upstream answered
}

// call returns the one call of the request, or nil for GET, DELETE and batches.
func (x *request) call() *mcp.Call {
	if x.message.Batch || len(x.message.Calls) != 1 {
		return nil
	}
	return &x.message.Calls[0]
}

// anyRequest reports whether the message holds a request of such a method.
func (x *request) anyRequest(such func(method string) bool) bool {
	for i := range x.message.Calls {
		if c := &x.message.Calls[i]; c.Kind == mcp.KindRequest && such(c.Method) {
			return true
		}
	}
	return false
}

// era is the era of the request. A GET or DELETE is legacy unless its version says
// otherwise. A modern one takes no session upstream (see outboundHeaders), so that the
// label does not take one out of its principal's hands.
func (x *request) era() mcp.Era {
	if len(x.message.Calls) > 0 {
		return x.message.Calls[0].Era
	}
	if mcp.IsModern(x.version()) {
		return mcp.EraModern
	}
	return mcp.EraLegacy
}

// version is the protocol version that the client claims, "" if none: its call's, or
// its header's where there is no single call.
func (x *request) version() string {
	if c := x.call(); c != nil && c.Version != "" {
		return c.Version
	}
	return x.r.Header.Get(mcp.HeaderVersion)
}

// serve takes the request through its life. What it returns is answered by fail.
func (x *request) serve() error {
	if err := x.accept(); err != nil {
		return err
	}
	if err := x.read(); err != nil {
		return err
	}
	if err := x.enter(); err != nil {
		return err
	}
	if x.asksForResource() {
		return x.serveResource()
	}
	if x.beforeAuthorization() {
		return x.passThrough()
	}
	if x.r.Method == wire.MethodPost {
		if err := x.classify(); err != nil {
			return err
		}
	}
	if err := x.findSession(); err != nil {
		return err
	}
	if err := x.findAffinity(); err != nil {
		return err
	}
	if err := x.place(); err != nil {
		return err
	}
	return x.forward()
}

// accept judges what the header says, before the body is read.
func (x *request) accept() error {
	x.trusted = x.p.trusted(x.r.RemoteAddr)
	if err := x.guard(); err != nil {
		return err
	}
	if !slices.Contains(x.methods(), x.r.Method) {
		return fault.Method
	}
	if err := x.admit(); err != nil {
		return err
	}
	if err := x.recognise(); err != nil {
		return err
	}
	if x.endpoint.Identifier != nil && x.r.Method != wire.MethodPost && x.r.ContentLength != 0 {
		return fault.BodyBesidePost
	}
	return nil
}

// methods are the HTTP methods that the request's path has.
func (x *request) methods() []string {
	if isWellKnown(x.r.URL.Path) {
		return []string{wire.MethodGet, wire.MethodHead, wire.MethodOptions}
	}
	return []string{wire.MethodGet, wire.MethodPost, wire.MethodDelete, wire.MethodOptions}
}

// classify peeks at the body and holds the headers against it.
func (x *request) classify() error {
	id, refusal := x.message.Peek(x.body, x.p.limits.Batch)
	x.id = id
	if refusal != nil {
		x.inArray, x.message = x.message.Batch, mcp.Message{}
		return refusal
	}
	if c := x.call(); c != nil && c.Kind == mcp.KindResponse {
		x.id = nil // an answer to a response has no id
	}
	if refusal := mcp.Classify(&x.message, x.r.Header); refusal != nil {
		return refusal
	}
	if x.era() == mcp.EraModern {
		if refusal := mcp.CheckHeaderBytes(x.r.Header); refusal != nil {
			return refusal
		}
	}
	x.answerInArray()
	for i := range x.message.Calls {
		c := &x.message.Calls[i]
		if !x.endpoint.FirstDraft {
			c.IgnoreDraft()
		}
		if len(c.ID) > maxRequestID {
			x.id = nil // nobody is told what is not to be kept
			return fault.LongID
		}
		if c.Method == mcp.MethodListen && x.message.Batch {
			return fault.ListenInBatch
		}
		if err := x.checkTaskIDs(c); err != nil {
			return err
		}
	}
	return nil
}

// answerInArray has a refusal of a batch of one be the answer to its call, and so the one
// member of an array (JSON-RPC 2.0, 6). What has several calls is refused as a whole.
func (x *request) answerInArray() {
	if calls := x.message.Calls; x.message.Batch && len(calls) == 1 && calls[0].Kind == mcp.KindRequest {
		x.id, x.inArray = calls[0].ID, true
	}
}

// findSession reads the session, which counts in the legacy era only.
func (x *request) findSession() error {
	if x.era() == mcp.EraModern {
		return nil
	}
	values := x.r.Header.Values(mcp.HeaderSession)
	if len(values) > 1 {
		return fault.SeveralSessions
	}
	if len(values) == 1 {
		x.session = strings.Trim(values[0], " \t")
	}
	if !x.isFitForSession(x.session) {
		return routing.ErrUnknownSession
	}
	return nil
}

// isFitForSession: session ids are visible ASCII (2025-11-25, transports, "Session
// Management"), so that nobody can hold one with anything else in it.
func (x *request) isFitForSession(id string) bool {
	return len(id) <= x.p.limits.SessionID && !strings.ContainsFunc(id, func(r rune) bool { return r < 0x21 || r > 0x7e })
}
