package mcp

import (
	"io"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// answerReader keeps what stands before the cut of a message that was cut off.
type answerReader struct {
	*reader
	cut    bool   // data is only the beginning
	asked  string // id of a task
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

func (r *answerReader) object(known []string, visit func(name []byte)) {
	if r.kind() != '{' {
		if r.token(); r.err == nil {
			r.err = errNotObject
		}
		return
	}
	seen := 0 // a bit for each of known
	for r.token(); r.err == nil && r.kind() != '}'; {
		name := r.name()
		for i, k := range known {
			if string(name) != k {
				continue
			}
			if seen&(1<<i) != 0 {
				r.err = ambiguousError{reasonDuplicateKey, k}
				return
			}
			seen |= 1 << i
		}
		visit(name)
	}
	r.token()
}

func (r *answerReader) message(name []byte) {
	switch string(name) {
	case "id":
		r.answer.ID = r.value()
	case "method":
		r.text(&r.answer.Method)
	case "error":
		// A null error beside a result is JSON-RPC 1.0's way of saying that there is none.
		r.answer.IsError = r.kind() != 'n'
		r.answer.Error = r.whole(errorNames, r.errorMember)
	case "result":
		r.readResult()
	case "params":
		r.readParams()
	default:
		r.value()
	}
}

func (r *answerReader) readParams() {
	if r.subscribed != nil {
		r.ifObject(subscribedNames, r.subscribedMember)
		return
	}
	r.ifObject(taskNames, func(name []byte) { r.task(&r.params, name) })
}

func (r *answerReader) readResult() {
	r.answer.HasResult = true
	r.answer.Result = r.whole(resultNames, r.resultMember)
}

// whole visits the members of the next value, and returns its bytes; nil if it is no object, or not
// all there.
func (r *answerReader) whole(known []string, visit func(name []byte)) []byte {
	if r.kind() != '{' {
		r.value()
		return nil
	}
	from := r.brace()
	if r.object(known, visit); r.err != nil {
		return nil
	}
	return r.data[from:r.at()]
}

func (r *answerReader) resultMember(name []byte) {
	switch string(name) {
	case "resultType":
		r.text(&r.answer.ResultType)
	case "isError":
		r.answer.ToolFailed = r.value().Kind() == 't'
	case "requestState":
		r.text(&r.answer.RequestState)
	case "nextCursor":
		r.text(&r.answer.NextCursor)
	case "protocolVersion":
		r.text(&r.answer.Version)
	case "task":
		r.ifObject(taskNames, func(name []byte) { r.task(&r.core, name) })
	default:
		r.task(&r.result, name)
	}
}

func (r *answerReader) errorMember(name []byte) {
	if value := r.value(); string(name) == "code" {
		r.answer.ErrorCode, _ = strconv.Atoi(string(value))
	}
}

func (r *answerReader) task(into *Task, name []byte) {
	switch string(name) {
	case "taskId":
		r.text(&into.ID)
	case "status":
		r.text(&into.Status)
	case "ttlMs", "ttl":
		r.duration(&into.TTL)
	case "keepAlive":
		r.duration(&into.KeepAlive)
	default:
		r.value()
	}
}

func (r *answerReader) duration(d *time.Duration) {
	if ms, err := strconv.ParseFloat(string(r.value()), 64); err == nil {
		*d = milliseconds(ms)
	}
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

// value takes a number that reaches up to the cut for cut off: its digits may go on behind it.
func (r *answerReader) value() jsontext.Value {
	value := r.reader.value()
	if r.err == nil && r.cut && value.Kind() == '0' && r.at() == len(r.data) {
		r.err = io.ErrUnexpectedEOF
		return nil
	}
	return value
}

func (r *answerReader) text(s *string) {
	if value := r.value(); r.err == nil {
		*s, _ = decoded(value, r.asked)
	}
}

func (r *answerReader) ifObject(known []string, visit func(name []byte)) {
	if r.kind() == '{' {
		r.object(known, visit)
	} else {
		r.value()
	}
}

// finish decides which shape the message has. A result that says that it is no task is none, nor is
// what has a status under `task` that no task has: an issue tracker's tool may answer with a task
// of its own.
func (r *answerReader) finish() {
	a := &r.answer
	switch {
	case a.Method != "":
		a.Task = r.params
	case a.ResultType == ResultTask && r.result.ID != "":
		a.Task, a.Dialect = r.result, DialectExtension
	case r.core.ID != "" && r.core.plausible() && (a.ResultType == "" || a.ResultType == ResultTask):
		a.Task, a.Dialect = r.core, DialectCore
	default:
		a.Task = r.result
	}
}
