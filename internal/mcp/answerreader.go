package mcp

import (
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// answerReader walks a message token by token, so that a message which was cut
// off still tells what stands before the cut.
type answerReader struct {
	dec    *jsontext.Decoder
	data   []byte
	cut    bool // data is only the beginning
	answer Answer
	result Task // result.taskId and its neighbours
	params Task // params.taskId …
	core   Task // result.task.taskId …

	subscribed *Subscribed // nil: it is no message on a subscription's stream
}

// Members of an answer that are read, and so may not stand there twice.
var (
	messageNames = []string{"id", "method", "params", "result", "error"}
	taskNames    = []string{"taskId", "status", "statusMessage", "ttlMs", "ttl", "keepAlive"}
	resultNames  = append([]string{"resultType", "requestState", "nextCursor", "protocolVersion", "task"}, taskNames...)
	errorNames   = []string{"code"}
)

// object reads an object and hands each member's name to visit, which must
// consume the value. It fails if one of known is there twice.
func (r *answerReader) object(known []string, visit func(name string) error) error {
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
		if slices.Contains(known, name) {
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
		id, err := r.value()
		r.answer.ID = id
		return err
	case "method":
		return r.text(&r.answer.Method)
	case "error":
		// A null error beside a result is JSON-RPC 1.0's way of saying that there is none.
		r.answer.IsError = r.dec.PeekKind() != 'n'
		return r.ifObject(errorNames, r.errorMember)
	case "result":
		return r.readResult()
	case "params":
		if r.subscribed != nil {
			return r.ifObject(subscribedNames, r.subscribedMember)
		}
		return r.ifObject(taskNames, func(name string) error { return r.task(&r.params, name) })
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
	if err := r.object(resultNames, r.resultMember); err != nil {
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
		value, err := r.value()
		r.answer.ToolFailed = value.Kind() == 't'
		return err
	case "requestState":
		return r.text(&r.answer.RequestState)
	case "nextCursor":
		return r.text(&r.answer.NextCursor)
	case "protocolVersion":
		return r.text(&r.answer.Version)
	case "task":
		return r.ifObject(taskNames, func(name string) error { return r.task(&r.core, name) })
	}
	return r.task(&r.result, name)
}

func (r *answerReader) errorMember(name string) error {
	if name != "code" {
		return r.dec.SkipValue()
	}
	value, err := r.value()
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
		return r.duration(&into.TTL)
	case "keepAlive":
		return r.duration(&into.KeepAlive)
	}
	return r.dec.SkipValue()
}

// duration reads the next value into d if it is a number of milliseconds.
func (r *answerReader) duration(d *time.Duration) error {
	value, err := r.value()
	if ms, bad := strconv.ParseFloat(string(value), 64); err == nil && bad == nil {
		*d = milliseconds(ms)
	}
	return err
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

// value reads the next value. The digits of a number that reaches up to the cut
// may go on behind it: it counts as cut off.
func (r *answerReader) value() (jsontext.Value, error) {
	value, err := r.dec.ReadValue()
	if err == nil && r.cut && value.Kind() == '0' && int(r.dec.InputOffset()) == len(r.data) {
		return nil, io.ErrUnexpectedEOF
	}
	return value, err
}

// text reads the next value into s if it is a string, and skips it otherwise.
func (r *answerReader) text(s *string) error {
	value, err := r.value()
	if err == nil {
		*s, _ = text(value)
	}
	return err
}

func (r *answerReader) ifObject(known []string, visit func(name string) error) error {
	if r.dec.PeekKind() == '{' {
		return r.object(known, visit)
	}
	return r.dec.SkipValue()
}

// finish decides which of the shapes that were read the message has. A result
// that says of itself that it is no task ("complete", "input_required") is none,
// and neither is what has a status under `task` that no task has: an issue tracker's
// tool may well answer with a task of its own.
func (r *answerReader) finish() {
	a := &r.answer
	switch {
	case a.Method != "":
		a.Task = r.params
	case a.ResultType == "task" && r.result.ID != "":
		a.Task, a.Dialect = r.result, DialectExtension
	case r.core.ID != "" && r.core.plausible() && (a.ResultType == "" || a.ResultType == "task"):
		a.Task, a.Dialect = r.core, DialectCore
	default:
		a.Task = r.result
	}
}
