package mcp

import (
	"encoding/binary"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

const memberProgressToken = "progressToken"

// Round is one sending of a held call. A call that asks for input is sent once more for
// each time that it was answered.
type Round struct {
	// ID is the raw JSON of the request's id; nil keeps the id of the original. Each
	// round needs one of its own (2026-07-28, multi round-trip requests, "Client
	// Requirements").
	ID            []byte
	ProgressToken string // becomes params._meta.progressToken, as a string; "" takes the client's out

	// WithoutTask takes params.task out: the server is to answer with the result itself,
	// whatever the client asked for (2025-11-25, tasks, "Creating Tasks").
	WithoutTask bool

	// Answered says that the round answers an input_required result, with Answers and
	// State. Otherwise params keeps what the client put there.
	Answered bool

	// Answers become params.inputResponses, in order and under the server's own keys;
	// without any, params has no such member.
	Answers []Input
	State   []byte // the raw JSON of params.requestState; nil leaves the member out
}

// Body returns the body of a single request as it is sent for a task: with what r says,
// and without a declaration of the Tasks extension, for the call is to be a plain one.
// Every other byte stays as it came. The body must be one that Peek takes. The error is an
// *Error to answer with: -32602 if params or `_meta` is no object where something goes
// into it, and -32600 if two readers could understand a name in the way differently.
func (r Round) Body(original []byte) ([]byte, error) {
	body, err := r.patch().apply(original)
	switch {
	case errors.Is(err, errNotObject):
		return nil, errParams("params or _meta is no object")
	case err != nil:
		return nil, refusal(err)
	}
	return body, nil
}

func (r Round) patch() patch {
	var token []byte
	if r.ProgressToken != "" {
		token, _ = jsontext.AppendQuote(nil, r.ProgressToken)
	}
	params := patch{{name: "_meta", within: patch{
		{name: memberProgressToken, value: token},
		{name: metaCapabilities, within: patch{{name: "extensions", within: patch{{name: TasksExtension}}}}},
	}}}
	if r.WithoutTask {
		params = append(params, change{name: memberTask})
	}
	if r.Answered {
		params = append(params,
			change{name: memberInputResponses, value: r.responses()}, change{name: memberRequestState, value: r.State})
	}
	p := patch{{name: "params", within: params}}
	if r.ID != nil {
		p = append(p, change{name: "id", value: r.ID})
	}
	return p
}

func (r Round) responses() []byte {
	if len(r.Answers) == 0 {
		return nil
	}
	return appendInputs(make([]byte, 0, sizeOf(r.Answers)), r.Answers)
}

// ownOfRequest are members of `_meta` that tell one request from the next and do not
// bear on its answer.
var ownOfRequest = map[string]bool{"progressToken": true, "traceparent": true, "tracestate": true, "baggage": true}

// AppendQuestion appends what a single request asks, without what is its own: its id and,
// of `_meta`, the progress token and the trace context. Requests with equal questions
// may share an answer, as far as their bodies go. The body must be one that Peek takes.
func AppendQuestion(question, body []byte) []byte {
	visit := func(object string, keep func(name []byte, value jsontext.Value) bool) func([]byte, jsontext.Value) error {
		return func(name []byte, value jsontext.Value) error {
			if keep(name, value) {
				question = appendPart(appendPart(appendPart(question, object), name), value)
			}
			return nil
		}
	}
	meta := visit("_meta", func(name []byte, _ jsontext.Value) bool { return !ownOfRequest[string(name)] })
	params := visit("params", func(name []byte, value jsontext.Value) bool {
		return string(name) != "_meta" || objectMembers(value, nil, meta) != nil
	})
	_ = members(body, nil, visit("", func(name []byte, value jsontext.Value) bool {
		return string(name) != "id" && (string(name) != "params" || objectMembers(value, nil, params) != nil)
	}))
	return question
}

// appendPart appends s so that no two lists of parts are alike.
func appendPart[T []byte | jsontext.Value | string](to []byte, s T) []byte {
	return append(binary.BigEndian.AppendUint64(to, uint64(len(s))), s...)
}
