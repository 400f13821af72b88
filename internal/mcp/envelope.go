package mcp

import (
	"errors"
	"strings"

	"berth/internal/jsonscan"

	"github.com/go-json-experiment/json/jsontext"
)

type envelope struct {
	version, id     jsontext.Value
	method, params  jsontext.Value
	result, failure jsontext.Value // failure is "error"
}

var envelopeNames = []string{"jsonrpc", "id", "method", "params", "result", "error"}

// kind: an error response may lack an id, for what it answers could not be read.
func (e *envelope) kind() (kind Kind, ok bool) {
	answers := e.result != nil || e.failure != nil
	switch {
	case answers && (e.method != nil || e.result != nil && e.failure != nil):
		return 0, false
	case answers:
		return KindResponse, e.id != nil || e.failure != nil
	case e.id == nil:
		return KindNotification, e.method != nil
	}
	return KindRequest, e.method != nil
}

func (e *envelope) usableID() []byte {
	if e.id.Kind() == '"' || e.id.Kind() == '0' {
		return e.id
	}
	return nil
}

func (e *envelope) check() error {
	kind, ok := e.kind()
	nameless := kind == KindResponse && e.failure != nil && e.id.Kind() == 'n'
	switch {
	case !isString(e.version, "2.0"):
		return errInvalid(`"jsonrpc" is not "2.0"`, "")
	case !ok:
		return errInvalid("neither a request nor a response", "")
	case e.id != nil && e.usableID() == nil && !nameless:
		return errInvalid("the id is neither a string nor a number", "")
	}
	return nil
}

type callReader struct {
	reader
	env     envelope
	call    *Call
	passed  bool  // params were read where they stood
	refused error // what is wrong with them then
}

// peek reads the message in data. On failure the call bears the id, if that could be read.
func (c *Call) peek(data []byte) error {
	r := callReader{reader: reader{Scanner: jsonscan.New(data)}, call: c}
	if r.Kind() != '{' {
		return r.notObject()
	}
	o := r.open(envelopeNames)
	for r.next(&o) {
		r.member(o.name)
	}
	err := o.fault
	if !r.End() {
		err = r.Err()
	}
	c.ID = r.env.usableID()
	if ambiguous, ok := errors.AsType[ambiguousError](err); ok && strings.EqualFold(ambiguous.name, "id") {
		c.ID = nil // which of the two is meant?
	}
	if err != nil {
		return err
	}
	if err := r.env.check(); err != nil {
		return err
	}
	return r.fill()
}

func (r *callReader) notObject() error {
	r.Value()
	if !r.End() {
		return errParse()
	}
	return errInvalid("the message is not an object", "")
}

// member reads params in passing where the method, on which their meaning depends, stands before them.
func (r *callReader) member(name []byte) {
	switch string(name) {
	case "jsonrpc":
		r.env.version = r.Value()
	case "id":
		r.env.id = r.Value()
	case "method":
		r.env.method = r.Value()
		r.call.Method, _ = decoded(r.env.method, "")
	case "params":
		if r.passed = r.call.Method != "" && r.Kind() == '{'; r.passed {
			r.refused = r.call.readParams(&r.reader)
		} else {
			r.env.params = r.Value()
		}
	case "result":
		r.env.result = r.Value()
	case "error":
		r.env.failure = r.Value()
	default:
		r.Value()
	}
}

func (r *callReader) fill() error {
	r.call.Kind, _ = r.env.kind()
	switch {
	case r.call.Kind == KindResponse:
		return nil
	case r.call.Method == "":
		return errInvalid("the method is not a name", "")
	case r.passed:
		return r.refused
	case r.env.params.Kind() != '{':
		return nil
	}
	params := reader{Scanner: jsonscan.New(r.env.params)}
	return r.call.readParams(&params)
}
