package mcp

import (
	"bytes"
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
	ID        string        // "" if the message tells of no task
	Status    string        // as the specification spells it; "" if it is not said
	TTL       time.Duration // time to live since creation; 0 = unlimited or not said
	KeepAlive time.Duration // how long the first draft keeps a task since its end; 0 = unlimited or not said
}

// Terminal reports whether the task's state will not change any more. "unknown" is an end
// in the first draft (SEP-1686, 4.3) and a state in no other.
func (t *Task) Terminal() bool {
	switch t.Status {
	case "completed", "failed", "cancelled", "unknown":
		return true
	}
	return false
}

// plausible reports whether the status, if there is one, is one that a task can
// have in any revision (2025-11-25, tasks, "Task Status"; the first draft has two more).
func (t *Task) plausible() bool {
	switch t.Status {
	case "", "working", "input_required", "submitted":
		return true
	}
	return t.Terminal()
}

// HasID reports whether a response says what it answers: an error that an unreadable
// request gets does not (JSON-RPC 2.0, 5).
func (a *Answer) HasID() bool { return len(a.ID) > 0 && string(a.ID) != "null" }

// CreatesTask reports whether the message hands out a task.
func (a *Answer) CreatesTask() bool { return a.Dialect != DialectNone && a.Task.ID != "" }

// PeekAnswer reads one message of an answer. With cut, data is only the beginning
// of the message, and what was read up to there counts. An error means that the
// message is malformed, or that it names one of the members berth reads twice;
// the Answer then holds what was read before the fault.
func PeekAnswer(data []byte, cut bool) (Answer, error) { return peekAnswer(data, cut, nil, "") }

// PeekAnswerTo is PeekAnswer for an answer that is about the task asked, if about any: its id
// is not copied then.
func PeekAnswerTo(asked string, data []byte, cut bool) (Answer, error) {
	return peekAnswer(data, cut, nil, asked)
}

// peekAnswer reads into subscribed as well, unless that is nil.
func peekAnswer(data []byte, cut bool, subscribed *Subscribed, asked string) (Answer, error) {
	// Some servers begin a JSON body with a byte order mark; browsers and fetch drop it.
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	r := answerReader{reader: read(data), cut: cut, subscribed: subscribed, asked: asked}
	defer r.release()
	r.object(messageNames, r.message)
	r.end()
	r.finish()
	if cut && (isCut(r.err) || isEOF(r.err)) {
		r.err = nil
	}
	return r.answer, r.err
}

// ResultObject returns the raw result of a response of any length; nil if it has none,
// none that is an object, or an error beside it. It is read as PeekAnswer reads it and
// aliases message.
func ResultObject(message []byte) []byte {
	result, failure := outcome(message)
	if result.Kind() != '{' || failure != nil {
		return nil
	}
	return result
}

// ErrorObject returns the raw error of an error response; nil if it has none, or none that
// is an object. It is read as PeekAnswer reads it and aliases message.
func ErrorObject(message []byte) []byte {
	_, failure := outcome(message)
	if failure.Kind() != '{' {
		return nil
	}
	return failure
}

// outcome returns the members result and error of a response; both are nil if it is
// malformed. An error that is null is none.
func outcome(message []byte) (result, failure jsontext.Value) {
	r := answerReader{reader: read(message)}
	defer r.release()
	r.object(messageNames, func(name []byte) {
		value := r.value()
		switch {
		case string(name) == "result":
			result = value
		case string(name) == "error" && value.Kind() != 'n':
			failure = value
		}
	})
	if r.end(); r.err != nil {
		return nil, nil
	}
	return result, failure
}

// IDKey returns a raw JSON-RPC id as all who spell it otherwise have it: PHP escapes
// slashes, Python what is not ASCII, and a parser that reads all numbers as floating ones
// returns 1 for 1.0. Integers keep all their digits. "1" and 1 stay apart. What cannot be
// read is returned as it is.
func IDKey(raw []byte) string {
	key := jsontext.Value(bytes.Clone(raw))
	if isInteger(raw) || key.Canonicalize() != nil {
		return string(raw)
	}
	return string(key)
}

// Answers reports whether a is the response to the request with this raw id, however the
// two are spelt.
func (a *Answer) Answers(id []byte) bool {
	return a.Method == "" && a.ID != nil && (bytes.Equal(a.ID, id) || IDKey(a.ID) == IDKey(id))
}

// IsNobodys reports whether a is an error that names no request: the id is null, or left
// out, where the one that was meant could not be read (JSON-RPC 2.0, "Response object").
func (a *Answer) IsNobodys() bool {
	return a.Method == "" && a.IsError && (a.ID == nil || string(a.ID) == "null")
}

// IsCrossed reports whether a, which is all that was answered to the request with this raw
// id, is the response to another one, or to none: an error that names none is the request's
// own, for the exchange says so.
func (a *Answer) IsCrossed(id []byte) bool {
	return a.Method == "" && (a.HasResult || a.IsError) && !a.Answers(id) && !a.IsNobodys()
}

// isInteger reports whether a number is spelled as integers are. -0 is 0 to most.
func isInteger(raw []byte) bool {
	digits := bytes.TrimPrefix(raw, []byte("-"))
	return len(bytes.Trim(digits, "0123456789")) == 0 && string(raw) != "-0"
}
