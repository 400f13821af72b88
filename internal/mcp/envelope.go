package mcp

import (
	"errors"
	"strings"

	"berth/internal/jsonobject"
	"berth/internal/recall"
)

// envelope is what a message is besides its method and params.
type envelope struct {
	id     []byte
	params []byte // that were not read where they stood
	seen   jsonobject.Set
	versed bool // jsonrpc says what it has to
}

var envelopeNames = []string{"jsonrpc", "id", "method", "params", "result", "error"}

var guardedEnvelope = jsonobject.Guard(&memberNames, envelopeNames...)

// kind: an error response may lack an id, for what it answers could not be read.
func (e *envelope) kind() (kind Kind, ok bool) {
	answer := e.seen & (memberResult | memberError)
	switch {
	case answer != 0 && (e.has(memberMethod) || answer == memberResult|memberError):
		return 0, false
	case answer != 0:
		return KindResponse, e.has(memberID) || e.has(memberError)
	case !e.has(memberID):
		return KindNotification, e.has(memberMethod)
	}
	return KindRequest, e.has(memberMethod)
}

func (e *envelope) has(member jsonobject.Set) bool { return e.seen&member != 0 }

func (e *envelope) usableID() []byte {
	if isToken(e.id) {
		return e.id
	}
	return nil
}

func (e *envelope) check(id []byte) (kind Kind, err error) {
	kind, ok := e.kind()
	nameless := kind == KindResponse && e.has(memberError) && string(e.id) == "null"
	switch {
	case !e.versed:
		return kind, errInvalid(`"jsonrpc" is not "2.0"`, "")
	case !ok:
		return kind, errInvalid("neither a request nor a response", "")
	case e.has(memberID) && id == nil && !nameless:
		return kind, errInvalid("the id is neither a string nor a number", "")
	}
	return kind, nil
}

// messageReader reads messages and their params, and notes what their forms are made of.
type messageReader struct {
	jsonobject.Reader
	gaps   recall.Gaps    // what differs between messages like this one
	inside jsonobject.Set // the known members of params and _meta
}

type callReader struct {
	messageReader
	env     envelope
	call    *Call
	passed  bool  // params were read where they stood
	refused error // what is wrong with them then
}

// peek reads the message in data and reports whether that is known to be ASCII: anything beyond is still to be looked at for
// its UTF-8. On failure the call bears the id, if that could be read.
func (c *Call) peek(data []byte) (ascii bool, err error) {
	if ascii, known := c.recallForm(data); known {
		return ascii, nil
	}
	r := callReader{call: c}
	r.Over(data)
	if r.Kind() != '{' {
		return false, r.notObject()
	}
	o := r.Enter(&guardedEnvelope)
	for r.Next(&o) {
		r.member(o.Member)
	}
	err = o.Fault
	if !r.End() {
		err = r.Err()
	}
	c.ID = r.env.usableID()
	if err != nil {
		if ambiguous, ok := errors.AsType[jsonobject.AmbiguousError](err); ok && strings.EqualFold(ambiguous.Name, "id") {
			c.ID = nil // which of the two is meant?
		}
		return false, err
	}
	r.env.seen = o.Seen
	if c.Kind, err = r.env.check(c.ID); err != nil {
		return false, err
	}
	if err = r.fill(); err == nil {
		c.rememberForm(&r)
	}
	return r.IsASCII(), err
}

func (r *callReader) notObject() error {
	r.Value()
	if !r.End() {
		return errParse()
	}
	return errInvalid("the message is not an object", "")
}

// member reads params in passing where the method, on which their meaning depends, stands before them.
func (r *callReader) member(member jsonobject.Set) {
	switch member {
	case memberJSONRPC:
		value := r.Value()
		r.env.versed = string(value) == `"2.0"` || jsonobject.IsString(value, "2.0")
	case memberID:
		r.env.id = r.Value()
		r.gaps.Add(&r.Scanner, member, r.env.id)
	case memberMethod:
		r.call.Method, _ = textOf(&r.Scanner, r.Value(), "")
	case memberParams:
		if r.passed = r.call.Method != "" && r.Kind() == '{'; r.passed {
			r.refused = r.call.readParams(&r.messageReader)
		} else {
			r.env.params = r.Value()
		}
	default:
		r.Value()
	}
}

func (r *callReader) fill() error {
	switch {
	case r.call.Kind == KindResponse:
		return nil
	case r.call.Method == "":
		return errInvalid("the method is not a name", "")
	case r.passed:
		return r.refused
	case !isObject(r.env.params):
		return nil
	}
	var params messageReader
	params.Over(r.env.params)
	return r.call.readParams(&params)
}
