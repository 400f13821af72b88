package mcp

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxPeek is how much of one message of an answer is held back and looked into,
// in bytes. A handle of a task is far smaller; of what is longer only this much
// is read, and the rest streams through.
const MaxPeek = 256 << 10

// Answer is what berth reads in one JSON-RPC message from an upstream. Strings
// are decoded; ID and Result alias the bytes that were read.
type Answer struct {
	ID     []byte // raw JSON of the id; nil in a notification
	Method string // of a request or notification; "" in a response

	IsError   bool // an error response
	ErrorCode int  // its code

	HasResult    bool
	Result       []byte // the whole result; nil if it was cut off
	ToolFailed   bool   // result.isError: a tool reports its own failure
	ResultType   string // result.resultType
	RequestState string // result.requestState
	NextCursor   string // result.nextCursor
	Version      string // result.protocolVersion, of an answer to initialize

	// Task is the task that the message tells of: a created one (Dialect says in
	// which shape), the one asked for by tasks/get, or the one that a
	// notification is about.
	Task    Task
	Dialect Dialect // of a message that creates a task; DialectNone otherwise
}

// Task is the part of a task's state that berth keeps.
type Task struct {
	ID     string
	Status string
	TTL    time.Duration // time to live since creation; 0 = unlimited or not said
	HasTTL bool          // ttlMs (or ttl) is there and a number
}

// Terminal reports whether the task's state will not change any more.
func (t *Task) Terminal() bool {
	return t.Status == "completed" || t.Status == "failed" || t.Status == "cancelled"
}

// CreatesTask reports whether the message hands out a task.
func (a *Answer) CreatesTask() bool { return a.Dialect != DialectNone && a.Task.ID != "" }

// PeekAnswer reads one message of an answer. With cut, data is only the beginning
// of the message, and what was read up to there counts. An error means that the
// message is malformed, or that it names one of the members berth reads twice;
// the Answer then holds what was read before the fault.
func PeekAnswer(data []byte, cut bool) (Answer, error) {
	r := answerReader{dec: newDecoder(data), data: data}
	err := r.object(r.message)
	if err == nil {
		if _, end := r.dec.ReadToken(); !isEOF(end) {
			err = errTrailing
		}
	}
	r.finish()
	if cut && isCut(err) {
		err = nil
	}
	return r.answer, err
}

// answerReader walks a message token by token, so that a message which was cut
// off still tells what stands before the cut.
type answerReader struct {
	dec    *jsontext.Decoder
	data   []byte
	answer Answer
	result Task // result.taskId and its neighbours
	params Task // params.taskId …
	core   Task // result.task.taskId …
}

// object reads an object and hands each member's name to visit, which must
// consume the value.
func (r *answerReader) object(visit func(name string) error) error {
	if r.dec.PeekKind() != '{' {
		if _, err := r.dec.ReadToken(); err != nil {
			return err
		}
		return errNotObject
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	var seen names
	for r.dec.PeekKind() != '}' {
		tok, err := r.dec.ReadToken()
		if err != nil {
			return err
		}
		name := tok.String()
		if len(seen) < maxMembers {
			if err := seen.add(name); err != nil {
				return err
			}
		}
		if err := visit(name); err != nil {
			return err
		}
	}
	_, err := r.dec.ReadToken()
	return err
}

func (r *answerReader) message(name string) error {
	switch name {
	case "id":
		id, err := r.dec.ReadValue()
		r.answer.ID = id
		return err
	case "method":
		return r.text(&r.answer.Method)
	case "error":
		r.answer.IsError = true
		return r.ifObject(r.errorMember)
	case "result":
		return r.readResult()
	case "params":
		return r.ifObject(func(name string) error { return r.task(&r.params, name) })
	}
	return r.dec.SkipValue()
}

func (r *answerReader) readResult() error {
	r.answer.HasResult = true
	if r.dec.PeekKind() != '{' {
		return r.dec.SkipValue()
	}
	// The decoder stands before the colon; the object begins at the next brace.
	from := int(r.dec.InputOffset())
	for from < len(r.data) && r.data[from] != '{' {
		from++
	}
	if err := r.object(r.resultMember); err != nil {
		return err
	}
	r.answer.Result = r.data[from:r.dec.InputOffset()]
	return nil
}

func (r *answerReader) resultMember(name string) error {
	switch name {
	case "resultType":
		return r.text(&r.answer.ResultType)
	case "isError":
		value, err := r.dec.ReadValue()
		r.answer.ToolFailed = value.Kind() == 't'
		return err
	case "requestState":
		return r.text(&r.answer.RequestState)
	case "nextCursor":
		return r.text(&r.answer.NextCursor)
	case "protocolVersion":
		return r.text(&r.answer.Version)
	case "task":
		return r.ifObject(func(name string) error { return r.task(&r.core, name) })
	}
	return r.task(&r.result, name)
}

func (r *answerReader) errorMember(name string) error {
	if name != "code" {
		return r.dec.SkipValue()
	}
	value, err := r.dec.ReadValue()
	if err == nil {
		r.answer.ErrorCode, _ = strconv.Atoi(string(value))
	}
	return err
}

// task reads the members of a task's state.
func (r *answerReader) task(into *Task, name string) error {
	switch name {
	case "taskId":
		return r.text(&into.ID)
	case "status":
		return r.text(&into.Status)
	case "ttlMs", "ttl":
		value, err := r.dec.ReadValue()
		if ms, bad := strconv.ParseFloat(string(value), 64); err == nil && bad == nil {
			into.TTL, into.HasTTL = milliseconds(ms), true
		}
		return err
	}
	return r.dec.SkipValue()
}

// milliseconds converts without overflow; a century is for ever.
func milliseconds(ms float64) time.Duration {
	const century = 100 * 365 * 24 * time.Hour
	if ms <= 0 {
		return 0
	}
	if ms > float64(century/time.Millisecond) {
		return century
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// text reads the next value into s if it is a string, and skips it otherwise.
func (r *answerReader) text(s *string) error {
	value, err := r.dec.ReadValue()
	if err == nil {
		*s, _ = text(value)
	}
	return err
}

func (r *answerReader) ifObject(visit func(name string) error) error {
	if r.dec.PeekKind() == '{' {
		return r.object(visit)
	}
	return r.dec.SkipValue()
}

// finish decides which of the shapes that were read the message has.
func (r *answerReader) finish() {
	a := &r.answer
	switch {
	case a.Method != "":
		a.Task = r.params
	case a.ResultType == "task" && r.result.ID != "":
		a.Task, a.Dialect = r.result, DialectExtension
	case r.core.ID != "":
		a.Task, a.Dialect = r.core, DialectCore
	default:
		a.Task = r.result
	}
}
