package mcp

import (
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"berth/internal/jsonobject"
	"berth/internal/mcp/listen"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind tells what a JSON-RPC message is.
type Kind uint8

const (
	KindRequest      Kind = iota // method and id
	KindNotification             // method, no id
	KindResponse                 // result or error, no method
)

// Call is one JSON-RPC message from a client. ID and ProgressToken alias the body; Version, Name and TaskID are made by
// Classify.
type Call struct {
	Kind          Kind // request, notification or response
	Era           Era  // set by Classify
	HasTaskID     bool // params.taskId is there, valid or not
	DeclaresTasks bool // params._meta declares the Tasks extension

	badName         bool // the mirrored member is there and no string, or not the same one to all
	badTaskID       bool // params.taskId is no string
	badCursor       bool // params.cursor is there and no string
	badRequestState bool // params.requestState is there, and no string or an empty one
	hasNewTaskID    bool // NewTaskID is there, valid or not
	badNewTaskID    bool // it is no string
	hasMetaVersion  bool // params._meta has a protocol version, of whatever kind
	hasCapabilities bool // params._meta has the client's capabilities
	plain           plainRaw

	ID      []byte // raw JSON of the id; nil in a notification and in an error response without one
	Method  string // "" in a response
	Version string // protocol version that the client claims, "" if none; set by Classify

	Name          string        // params.name or params.uri, whichever the method mirrors in Mcp-Name
	TaskID        string        // params.taskId
	Cursor        string        // params.cursor
	RequestState  string        // params.requestState of a multi round-trip retry
	Trace         Trace         // trace context in params._meta
	Listen        listen.Filter // params.notifications of subscriptions/listen
	ProgressToken []byte        // raw JSON of params._meta.progressToken; nil if it is absent or no token
	NewTaskID     string        // the id that the client gives the task which the request is to become (see MakesTask)
	RelatedTaskID string        // the task that a message of the first draft belongs to (SEP-1686, 4.7)

	metaVersion string // params._meta's protocol version, if it is a string

	capabilities jsontext.Value // of the client, as the call states them; aliases the body; nil: it does not

	task jsontext.Value // params.task, of whatever kind; aliases the body; nil: absent

	raw rawCall // what decode makes strings of
}

// Trace is the W3C trace context that a client put into `_meta`, unverified; "" where it put
// nothing.
type Trace struct {
	Parent string // traceparent
	State  string // tracestate
}

// IsTask reports whether the call is about one task. A list is about none, whatever its params say:
// it must not become that of one task's owner.
func (c *Call) IsTask() bool {
	return c.HasTaskID && isTaskMethod(c.Method) && c.Method != MethodListTasks
}

// HasNoMethod reports whether the call is about a task by a method that the Tasks extension does not have. Which methods there are
// besides is for a revision to come to say.
func (c *Call) HasNoMethod() bool {
	if c.Era != EraModern || !c.IsTask() {
		return false
	}
	return c.Method == MethodTaskResult || c.Version == versionModern && !namesTask(c.Method)
}

// ErrTaskID says why a task id is refused without looking for it.
var ErrTaskID = errors.New("mcp: not a valid task id")

// CheckTaskID refuses a task id that no server can have given out.
func (c *Call) CheckTaskID(limit int) error {
	if c.badTaskID || !IsTaskID(c.TaskID, limit) {
		return ErrTaskID
	}
	return nil
}

// CheckTarget refuses a call of a tool that names none by a string, and in the legacy era a request about a task that names none: what
// a server might take for a name, no rule about tools counts, and no owner is found by. In the modern era it is for who knows the
// pool's tasks to say the latter.
func (c *Call) CheckTarget() *Error {
	switch {
	case c.Method == MethodCallTool && !isText(c.raw.name):
		return errNoTool
	case c.Era == EraLegacy && !isText(c.raw.taskID) && c.Kind == KindRequest && isTaskMethod(c.Method) && (namesTask(c.Method) || c.Method == MethodDeleteTask):
		return ErrNoTaskID
	}
	return nil
}

// CheckCursor refuses a cursor that is no string (2025-11-25, pagination, "Error Handling").
func (c *Call) CheckCursor() error {
	if c.badCursor {
		return ErrInvalidCursor
	}
	return nil
}

// CheckRequestState refuses the state of a retry that is no string, or says nothing: the bridge has given out none such.
func (c *Call) CheckRequestState() error {
	if c.badRequestState {
		return errMalformed("requestState is no string, or an empty one")
	}
	return nil
}

// IsTaskID reports whether id, of at most limit bytes, is fit for a task.
func IsTaskID(id string, limit int) bool {
	return id != "" && len(id) <= limit && !hasUnfit(id)
}

// hasUnfit looks at runes from the first byte on that is not ASCII.
func hasUnfit(s string) bool {
	if isPrintable(s) {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			return strings.ContainsFunc(s[i:], IsUnfit)
		case c < ' ', c == unicode.MaxASCII:
			return true
		}
	}
	return false
}

// IsUnfit reports whether r has no place in an identifier or on one line of a log. A lone surrogate
// was decoded to U+FFFD.
func IsUnfit(r rune) bool {
	if r < unicode.MaxASCII {
		return r < ' '
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar
}

// AsksTask reports whether the call of a tool asks to be made a task (2025-11-25, tasks, "Creating
// Tasks"). In the modern era params.task means nothing.
func (c *Call) AsksTask() bool {
	return c.Era == EraLegacy && c.Kind == KindRequest && c.Method == MethodCallTool && c.task.Kind() == '{'
}

// Capabilities are what the client declares with the call, raw: a modern request for itself, initialize for its session. They alias
// the body; nil if it says nothing.
func (c *Call) Capabilities() []byte { return c.capabilities }

// AskedTTL returns how long the client wants the task to live; asked is false where it leaves that
// to the server. The error is an *Error: -32602 if params.task.ttl is no number, -32600 if it is
// ambiguous.
func (c *Call) AskedTTL() (ttl time.Duration, asked bool, err error) {
	members, err := jsonobject.Named(c.task, "ttl")
	if err != nil {
		return 0, false, RefusalOf(err)
	}
	value := members[0]
	if value == nil || value.Kind() == 'n' {
		return 0, false, nil
	}
	ms, err := strconv.ParseFloat(string(value), 64)
	if value.Kind() != '0' || err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false, ErrParams("task.ttl is no number")
	}
	return Milliseconds(ms), true, nil
}
