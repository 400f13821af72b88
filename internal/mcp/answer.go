package mcp

import (
	"bytes"
	"time"
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
	ID     string        // "" if the message tells of no task
	Status string        // as the specification spells it; "" if it is not said
	TTL    time.Duration // time to live since creation; 0 = unlimited or not said

	// KeepAlive is how long the first draft keeps a task since its end; 0 = unlimited or
	// not said.
	KeepAlive time.Duration
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
