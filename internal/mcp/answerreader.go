package mcp

import (
	"io"
	"slices"
	"strconv"
	"time"

	"berth/internal/jsonobject"
	"berth/internal/jsonscan"
	"berth/internal/recall"
)

// answerReader keeps what stands before the cut of a message that was cut off.
type answerReader struct {
	jsonscan.Scanner
	cut    bool   // the text is only the beginning
	asked  string // id of a task
	result Task   // result.taskId and its neighbours
	params Task   // params.taskId …
	core   Task   // result.task.taskId …

	number  jsonobject.Set // of the last name, wherever that stands
	seen    jsonobject.Set // of the message
	inside  jsonobject.Set // of the objects in it
	strange bool           // they have others, or the message has
	from    int            // where the result begins
	gaps    recall.Gaps    // what differs between messages like this one

	subscribed *Subscribed // nil: it is no message on a subscription's stream
}

// answerObject is one that an answerReader is in.
type answerObject struct {
	known  jsonobject.Set // that are read, and may not stand there twice, but for memberToolFailed
	seen   jsonobject.Set
	member jsonobject.Set // the one whose value comes next; 0: none of known
}

func (r *answerReader) open(known jsonobject.Set) answerObject {
	switch r.Kind() {
	case '{':
		r.Open('{')
	case '[':
		r.Fail(jsonobject.ErrNotObject)
	default:
		if r.Value(); r.Err() == nil {
			r.Fail(jsonobject.ErrNotObject)
		}
	}
	return answerObject{known: known}
}

// next steps to the next member of o, whose value has then to be read.
func (r *answerReader) next(o *answerObject) bool {
	number, ok := r.Member(&memberNames)
	if !ok {
		return false
	}
	if number == 0 {
		name, _ := jsonobject.NameOf(&r.Scanner)
		number = memberNames.Of(name)
	}
	r.number = jsonobject.Set(number)
	if r.Depth() > 1 {
		r.inside |= r.number
		r.strange = r.strange || number == 0
	} else {
		r.strange = r.strange || r.number&(messageMembers|memberJSONRPC) == 0
	}
	o.member = r.number & o.known
	if o.seen&o.member&^memberToolFailed != 0 {
		name, _ := jsonobject.NameOf(&r.Scanner)
		r.Fail(jsonobject.AmbiguousError{Reason: jsonobject.ReasonDuplicateKey, Name: string(name)})
		return false
	}
	o.seen |= o.member
	return true
}

func (r *answerReader) readMessage(a *Answer) {
	o := r.open(messageMembers)
	for r.next(&o) {
		switch o.member {
		case memberID:
			a.ID = r.value()
		case memberMethod:
			r.text(&a.Method)
		case memberError:
			// A null error beside a result is JSON-RPC 1.0's way of saying that there is none.
			a.IsError = r.Kind() != 'n'
			a.Error = r.readError(a)
		case memberResult:
			a.HasResult = true
			a.Result = r.readResult(a)
		case memberParams:
			r.readParams()
		default:
			r.value()
		}
	}
	r.seen = o.seen
}

func (r *answerReader) readParams() {
	known := taskMembers
	if r.subscribed != nil {
		known = subscribedMembers
	}
	if !r.atObject() {
		return
	}
	strange := r.strange
	o := r.open(known)
	for r.next(&o) {
		switch o.member {
		case 0:
			r.gap()
		case memberURI:
			r.text(&r.subscribed.URI)
		case memberMeta:
			r.readSubscription()
		default:
			r.readTask(&r.params, o.member)
		}
	}
	r.strange = strange // what else they have are gaps
}

// readResult returns what it has read; nil if that is no object, or not all there.
func (r *answerReader) readResult(a *Answer) []byte {
	if !r.atObject() {
		return nil
	}
	r.from = r.At()
	o := r.open(resultMembers)
	for r.next(&o) {
		switch o.member {
		case memberToolFailed:
			a.ToolFailed = string(r.value()) == "true"
		case memberResultType:
			r.text(&a.ResultType)
		case memberState:
			r.text(&a.RequestState)
		case memberNextCursor:
			r.text(&a.NextCursor)
		case memberVersion:
			r.text(&a.Version)
		case memberOwnTask:
			r.readOwnTask()
		default:
			r.readTask(&r.result, o.member)
		}
	}
	return r.since(r.from)
}

// readError returns what it has read, as readResult does.
func (r *answerReader) readError(a *Answer) []byte {
	if !r.atObject() {
		return nil
	}
	from := r.At()
	o := r.open(memberCode)
	for r.next(&o) {
		if value := r.value(); o.member == memberCode {
			a.ErrorCode = CodeOf(value)
		}
	}
	return r.since(from)
}

// CodeOf is the code of an error that is written so, 0 if that is no integer: -32602.0 is one, as some write it.
func CodeOf(value []byte) int {
	if code, err := strconv.Atoi(string(value)); err == nil { // as nearly all are
		return code
	}
	if code, err := strconv.ParseFloat(string(value), 64); err == nil && code == float64(int32(code)) {
		return int(code)
	}
	return 0
}

func (r *answerReader) readOwnTask() {
	if !r.atObject() {
		return
	}
	o := r.open(taskMembers)
	for r.next(&o) {
		r.readTask(&r.core, o.member)
	}
}

// readTask reads the value of one of taskMembers, or passes over any other.
func (r *answerReader) readTask(into *Task, member jsonobject.Set) {
	switch member {
	case memberTaskID:
		r.text(&into.ID)
	case memberStatus:
		r.text(&into.Status)
	case memberTTLMs, memberTTL:
		r.duration(&into.TTL)
	case memberKeepAlive:
		r.duration(&into.KeepAlive)
	default:
		r.value()
	}
}

func (r *answerReader) readSubscription() {
	if !r.atObject() {
		return
	}
	o := r.open(memberSubscription)
	for r.next(&o) {
		if value := r.value(); o.member == memberSubscription {
			r.subscribed.Subscription = slices.Clone(value)
		}
	}
}

// atObject reports whether an object comes next. Anything else it passes over.
func (r *answerReader) atObject() bool {
	if r.Kind() == '{' {
		return true
	}
	r.value()
	return false
}

// since returns what was read from there on, nil after a fault.
func (r *answerReader) since(from int) []byte {
	if r.Err() != nil {
		return nil
	}
	return r.Text()[from:r.At()]
}

func (r *answerReader) duration(d *time.Duration) {
	value := r.value()
	if !isNumber(value) {
		return
	}
	if ms, err := strconv.Atoi(string(value)); err == nil { // as nearly all are
		*d = Milliseconds(float64(ms))
	} else if ms, err := strconv.ParseFloat(string(value), 64); err == nil {
		*d = Milliseconds(ms)
	}
}

// Milliseconds converts without overflow; a century is for ever.
func Milliseconds(ms float64) time.Duration {
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
func (r *answerReader) value() []byte {
	value := r.Value()
	if r.cut && isNumber(value) && r.At() == len(r.Text()) {
		r.Fail(io.ErrUnexpectedEOF)
		return nil
	}
	if r.number&differing != 0 {
		r.gaps.Add(&r.Scanner, r.number, value)
	}
	return value
}

// gap passes over a value that is not looked at, and differs between messages.
func (r *answerReader) gap() {
	if value := r.value(); value != nil && r.number&differing == 0 {
		r.gaps.Add(&r.Scanner, 0, value)
	}
}

func (r *answerReader) text(s *string) {
	if value := r.value(); value != nil {
		*s, _ = textOf(&r.Scanner, value, r.asked)
	}
}

// finish decides which shape the message has. A result that says that it is no task is none, nor is
// what has a status under `task` that no task has: an issue tracker's tool may answer with a task
// of its own.
func (r *answerReader) finish(a *Answer) {
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
