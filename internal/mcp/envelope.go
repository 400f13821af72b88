package mcp

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// envelope holds the members of one JSON-RPC message, raw; nil is an absent one.
type envelope struct {
	version, id     jsontext.Value
	method, params  jsontext.Value
	result, failure jsontext.Value // failure is "error"
}

var envelopeNames = []string{"jsonrpc", "id", "method", "params", "result", "error"}

func (e *envelope) set(name string, value jsontext.Value) error {
	switch name {
	case "jsonrpc":
		e.version = value
	case "id":
		e.id = value
	case "method":
		e.method = value
	case "params":
		e.params = value
	case "result":
		e.result = value
	case "error":
		e.failure = value
	}
	return nil
}

// kind tells what the message is; ok is false if it is nothing that JSON-RPC
// knows. An error response may lack an id: what it answers could not be read.
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

// usableID returns the id if it is one that may be answered to.
func (e *envelope) usableID() []byte {
	if e.id.Kind() == '"' || e.id.Kind() == '0' {
		return e.id
	}
	return nil
}

// check refuses what is no JSON-RPC 2.0 message.
func (e *envelope) check() error {
	kind, ok := e.kind()
	nameless := kind == KindResponse && e.failure != nil && e.id.Kind() == 'n'
	switch version, _ := text(e.version); {
	case version != "2.0":
		return errInvalid(`"jsonrpc" is not "2.0"`, "")
	case !ok:
		return errInvalid("neither a request nor a response", "")
	case e.id != nil && e.usableID() == nil && !nameless:
		return errInvalid("the id is neither a string nor a number", "")
	}
	return nil
}

// peekCall classifies one message. On failure the call bears the id, if that much
// could be read.
func peekCall(data []byte) (Call, error) {
	if jsontext.Value(bytes.TrimSpace(data)).Kind() != '{' {
		if jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
			return Call{}, errInvalid("the message is not an object", "")
		}
		return Call{}, errParse()
	}
	var env envelope
	err := members(data, envelopeNames, env.set)
	call := Call{ID: env.usableID()}
	var ambiguous ambiguousError
	switch {
	case errors.As(err, &ambiguous) && strings.EqualFold(ambiguous.name, "id"):
		call.ID = nil // which of the two is meant?
		return call, err
	case err != nil:
		return call, err
	}
	if err := env.check(); err != nil {
		return call, err
	}
	return call, call.fill(&env)
}

// fill reads what a valid envelope holds.
func (c *Call) fill(env *envelope) error {
	c.Kind, _ = env.kind()
	if c.Kind == KindResponse {
		return nil
	}
	method, ok := text(env.method)
	if !ok || method == "" {
		return errInvalid("the method is not a name", "")
	}
	c.Method = method
	if env.params.Kind() != '{' {
		return nil
	}
	return c.fillParams(env.params)
}
