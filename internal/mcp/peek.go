package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Message is the body of a client's POST.
type Message struct {
	Calls []Call // one, or the members of a batch
	Batch bool
}

// Peek classifies the body of a POST without decoding more than it must. It
// returns the message and, for answers to it, the id of a single call. maxBatch
// bounds the members of a batch.
func Peek(body []byte, maxBatch int) (Message, []byte, *Error) {
	if !utf8.Valid(body) {
		return Message{}, nil, errParse()
	}
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '[' {
		return peekBatch(body, maxBatch)
	}
	call, err := peekCall(body)
	if err != nil {
		e := refusal(err)
		if e.Code == CodeParse {
			return Message{}, nil, e
		}
		return Message{}, call.ID, e
	}
	return Message{Calls: []Call{call}}, call.ID, nil
}

func peekBatch(body []byte, limit int) (Message, []byte, *Error) {
	dec := newDecoder(body)
	if _, err := dec.ReadToken(); err != nil {
		return Message{}, nil, errParse()
	}
	msg := Message{Batch: true}
	for dec.PeekKind() != ']' {
		value, err := dec.ReadValue()
		if err != nil {
			return Message{}, nil, errParse()
		}
		if len(msg.Calls) == limit {
			return Message{}, nil, errInvalid("too many messages in one batch", "batch_too_large")
		}
		call, err := peekCall(value)
		if err != nil {
			return Message{}, nil, refusal(err)
		}
		msg.Calls = append(msg.Calls, call)
	}
	if !endsClean(dec) {
		return Message{}, nil, errParse()
	}
	if len(msg.Calls) == 0 {
		return Message{}, nil, errInvalid("an empty batch", "empty_batch")
	}
	return msg, nil, nil
}

// refusal turns what Peek found into the answer for the client.
func refusal(err error) *Error {
	var ambiguous errAmbiguous
	var refused *Error
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &ambiguous):
		return errInvalid("two readers could understand this message differently", ambiguous.reason)
	case errors.Is(err, errTooManyMembers):
		return errInvalid("an object has too many members", "too_many_members")
	}
	return errParse()
}

var (
	envelopeNames = []string{"jsonrpc", "id", "method", "params", "result", "error"}
	paramsNames   = []string{"_meta", "taskId"}
	metaNames     = []string{metaVersion, metaCapabilities}
)

// envelope collects the members of a JSON-RPC message.
type envelope struct {
	version, method jsontext.Value
	params          jsontext.Value
	answers         int // result, error
}

// peekCall classifies one message. On failure the call bears the id, if that much
// could be read.
func peekCall(data []byte) (Call, error) {
	var call Call
	var env envelope
	if jsontext.Value(bytes.TrimSpace(data)).Kind() != '{' {
		if jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
			return call, errInvalid("the message is not an object", "")
		}
		return call, errParse()
	}
	err := members(data, envelopeNames, func(name string, value jsontext.Value) error {
		switch name {
		case "jsonrpc":
			env.version = value
		case "id":
			call.ID = value
		case "method":
			env.method = value
		case "params":
			env.params = value
		case "result", "error":
			env.answers++
		}
		return nil
	})
	if !validRequestID(call.ID) && !isNullErrorID(call.ID, env) {
		call.ID = nil
		if err == nil {
			err = errInvalid("the id is neither a string nor a number", "")
		}
	}
	if err != nil {
		return call, err
	}
	return call, call.fill(env)
}

// validRequestID: strings and numbers; absent is a notification's.
func validRequestID(id jsontext.Value) bool {
	return id == nil || id.Kind() == '"' || id.Kind() == '0'
}

// isNullErrorID: an error response may have a null id where the request's id
// could not be read.
func isNullErrorID(id jsontext.Value, env envelope) bool {
	return id.Kind() == 'n' && env.answers == 1 && env.method == nil
}

func (c *Call) fill(env envelope) error {
	if v, ok := text(env.version); !ok || v != "2.0" {
		return errInvalid(`"jsonrpc" is not "2.0"`, "")
	}
	if env.method == nil {
		if env.answers != 1 || c.ID == nil {
			return errInvalid("neither a request nor a response", "")
		}
		c.Kind = KindResponse
		return nil
	}
	method, ok := text(env.method)
	if !ok || method == "" || env.answers != 0 {
		return errInvalid("neither a request nor a response", "")
	}
	c.Method = method
	if c.ID == nil {
		c.Kind = KindNotification
	}
	if env.params.Kind() != '{' {
		return nil
	}
	return c.fillParams(env.params)
}

func (c *Call) fillParams(params jsontext.Value) error {
	known, field := paramsNames, nameField(c.Method)
	if field != "" && field != "taskId" {
		known = append([]string{field}, paramsNames...)
	}
	return members(params, known, func(name string, value jsontext.Value) error {
		switch name {
		case "_meta":
			return c.fillMeta(value)
		case "taskId":
			c.HasTaskID = true
			id, ok := text(value)
			c.TaskID, c.badTaskID = id, !ok
		case "cursor":
			c.Cursor, _ = text(value)
		case "requestState":
			c.RequestState, _ = text(value)
		case "notifications":
			if c.Method == MethodListen {
				return c.fillListen(value)
			}
		case field:
			c.Name, c.hasName = text(value)
		}
		return nil
	})
}

func (c *Call) fillMeta(meta jsontext.Value) error {
	if meta.Kind() != '{' {
		return nil
	}
	return members(meta, metaNames, func(name string, value jsontext.Value) error {
		switch name {
		case metaVersion:
			c.MetaVersion, _ = text(value)
		case metaCapabilities:
			return c.fillCapabilities(value)
		case "traceparent":
			c.Trace.Parent, _ = text(value)
		case "tracestate":
			c.Trace.State, _ = text(value)
		case "baggage":
			c.Trace.Baggage, _ = text(value)
		}
		return nil
	})
}

func (c *Call) fillCapabilities(caps jsontext.Value) error {
	if caps.Kind() != '{' {
		return nil
	}
	return members(caps, nil, func(name string, value jsontext.Value) error {
		if name != "extensions" || value.Kind() != '{' {
			return nil
		}
		return members(value, nil, func(name string, value jsontext.Value) error {
			if name == TasksExtension && value.Kind() == '{' {
				c.DeclaresTasks = true
			}
			return nil
		})
	})
}

// fillListen reads the task ids of a subscription.
func (c *Call) fillListen(filter jsontext.Value) error {
	if filter.Kind() != '{' {
		return nil
	}
	return members(filter, []string{"taskIds"}, func(name string, value jsontext.Value) error {
		if name != "taskIds" || value.Kind() != '[' {
			return nil
		}
		if json.Unmarshal(value, &c.ListenTaskIDs) != nil {
			return errInvalid("taskIds is no list of strings", "")
		}
		return nil
	})
}
