package mcp

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"time"

	"berth/internal/jsonobject"
	"berth/internal/jsonscan"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxPeek is how much of one message of an answer is read, in bytes; the rest streams through. A
// task's handle is far smaller.
const MaxPeek = 256 << 10

const (
	ResultInputRequired = "input_required" // the resultType of a result that asks for input
	ResultTask          = "task"           // that of a result which hands out a task of the Tasks extension
)

// Answer is what berth reads in one JSON-RPC message from an upstream. ID and Result alias what was
// read.
type Answer struct {
	ID     []byte // raw JSON of the id; nil in a notification
	Method string // of a request or notification; "" in a response

	IsError    bool // an error response
	HasResult  bool
	ToolFailed bool    // result.isError: a tool reports its own failure
	Dialect    Dialect // of a message that creates a task; DialectNone otherwise

	Error     []byte // the whole error; nil if it was cut off, or is no object
	ErrorCode int    // its code

	Result       []byte // the whole result; nil if it was cut off
	ResultType   string // result.resultType
	RequestState string // result.requestState
	NextCursor   string // result.nextCursor
	Version      string // result.protocolVersion, of an answer to initialize

	// Task is the one that the message creates (Dialect says in which shape), answers about, or
	// tells of.
	Task Task
}

// Task is the part of a task's state that berth keeps.
type Task struct {
	ID        string        // "" if the message tells of no task
	Status    string        // as the specification spells it; "" if it is not said
	TTL       time.Duration // time to live since creation; 0 = unlimited or not said
	KeepAlive time.Duration // how long the first draft keeps a task since its end; 0 = unlimited or not said
}

// Terminal reports whether the status is an end. "unknown" is one in the first draft only
// (SEP-1686, 4.3).
func (t *Task) Terminal() bool {
	switch t.Status {
	case "completed", "failed", "cancelled", "unknown":
		return true
	}
	return false
}

// plausible reports whether a task can have the status in any revision (2025-11-25, tasks, "Task
// Status").
func (t *Task) plausible() bool {
	return slices.Contains([]string{"", "working", "input_required", "submitted"}, t.Status) || t.Terminal()
}

// HasID reports whether a response says what it answers: one to an unreadable request does not
// (JSON-RPC 2.0, 5).
func (a *Answer) HasID() bool { return len(a.ID) > 0 && string(a.ID) != "null" }

// CreatesTask reports whether the message hands out a task.
func (a *Answer) CreatesTask() bool { return a.Dialect != DialectNone && a.Task.ID != "" }

// SaysLessThanPoll reports whether a message that hands out a task tells a state of which polls tell more: the extension's handles have
// neither outcomes nor questions (ext-tasks, "Task Creation", "Response").
func (a *Answer) SaysLessThanPoll() bool {
	return a.Dialect == DialectExtension && slices.Contains([]string{"completed", "failed", "input_required"}, a.Task.Status)
}

// PeekAnswer reads one message of an answer, or with cut its beginning. An error means that it is
// malformed, or names a member twice that berth reads; the Answer then holds what stood before.
func PeekAnswer(data []byte, cut bool) (a Answer, err error) {
	err = a.peek(data, cut, nil, "")
	return a, err
}

// PeekTo is PeekAnswer into a, which is empty, of an answer about the task asked, if about any, whose
// id is not copied then.
func (a *Answer) PeekTo(asked string, data []byte, cut bool) error {
	return a.peek(data, cut, nil, asked)
}

func (a *Answer) peek(data []byte, cut bool, subscribed *Subscribed, asked string) error {
	var r answerReader
	r.Over(Unmarked(data))
	r.cut, r.subscribed, r.asked = cut, subscribed, asked
	if !r.recall(a) {
		r.readMessage(a)
		r.End()
		r.remember(a)
	}
	r.finish(a)
	if err := r.Err(); !cut || !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return nil
}

// Unmarked returns a message, or its beginning, without the byte order mark that some servers begin a JSON body with, and that browsers and
// fetch drop.
func Unmarked(message []byte) []byte { return bytes.TrimPrefix(message, byteOrderMark) }

var byteOrderMark = []byte("\ufeff")

// ResultObject returns the raw result of a response of any length, which it aliases; nil if that is
// no object, or an error stands beside it.
func ResultObject(message []byte) []byte {
	result, failure := outcome(message)
	if result.Kind() != '{' || failure != nil {
		return nil
	}
	return result
}

// ErrorObject returns the raw error of an error response, which it aliases; nil if that is no
// object.
func ErrorObject(message []byte) []byte {
	_, failure := outcome(message)
	if failure.Kind() != '{' {
		return nil
	}
	return failure
}

// outcome returns result and error of a response, both nil if it is malformed. A null error is
// none.
func outcome(message []byte) (result, failure jsontext.Value) {
	r := answerReader{Scanner: jsonscan.New(Unmarked(message))}
	o := r.open(messageMembers)
	for r.next(&o) {
		value := jsontext.Value(r.Value())
		switch {
		case o.member == memberResult:
			result = value
		case o.member == memberError && value.Kind() != 'n':
			failure = value
		}
	}
	if !r.End() {
		return nil, nil
	}
	return result, failure
}

// LastID returns the raw id of a response by its last bytes; nil if that is not among the members which end there.
func LastID(end []byte) []byte {
	for at := 0; ; at++ {
		next := bytes.IndexByte(end[at:], ',')
		if next < 0 {
			return nil
		}
		at += next
		members := append([]byte("{"), end[at+1:]...)
		// What is no object began within a string, or deeper.
		if values, err := jsonobject.Named(members, "id"); err == nil && values[0] != nil {
			return values[0]
		}
	}
}

// IDKey returns a raw JSON-RPC id as all who spell it otherwise have it: PHP escapes slashes,
// Python what is not ASCII, and some return 1 for 1.0. Integers keep all their digits; "1" and 1
// stay apart.
func IDKey(raw []byte) string {
	key := jsontext.Value(bytes.Clone(raw))
	if isInteger(raw) || key.Canonicalize() != nil {
		return string(raw)
	}
	return string(key)
}

// SameID reports whether two raw ids are one, however they are spelt.
func SameID(a, b []byte) bool { return bytes.Equal(a, b) || IDKey(a) == IDKey(b) }

// Answers reports whether a is the response to the request with this raw id, however that is spelt.
func (a *Answer) Answers(id []byte) bool {
	return a.Method == "" && a.ID != nil && SameID(a.ID, id)
}

// MayAnswer is Answers that takes "1" for 1, and 1 for "1": some servers answer so, and clients pass over it.
func (a *Answer) MayAnswer(id []byte) bool {
	return a.Answers(id) || a.Method == "" && a.HasID() && bytes.Equal(bytes.Trim(a.ID, `"`), bytes.Trim(id, `"`))
}

// IsNobodys reports whether a is an error that names no request (JSON-RPC 2.0, "Response object").
func (a *Answer) IsNobodys() bool {
	return a.Method == "" && a.IsError && (a.ID == nil || string(a.ID) == "null")
}

// IsCrossed reports whether a, which is all that was answered to the request with this raw id,
// answers another one. An error that names none is the request's own.
func (a *Answer) IsCrossed(id []byte) bool {
	return a.Method == "" && (a.HasResult || a.IsError) && !a.Answers(id) && !a.IsNobodys()
}

// isInteger reports whether a number is spelled as integers are. -0 is 0 to most.
func isInteger(raw []byte) bool {
	digits := bytes.TrimPrefix(raw, []byte("-"))
	return len(bytes.Trim(digits, "0123456789")) == 0 && string(raw) != "-0"
}
