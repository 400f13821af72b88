package inquiry

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"berth/internal/jsonobject"
	"berth/internal/mcp"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxInputs bounds what one result asks for, and one tasks/update answers. No real server asks for
// a tenth of it.
const MaxInputs = 64

// Input is one member of inputRequests or inputResponses (2026-07-28, "Core Types").
type Input struct {
	Key   string // names the request, and the response to it; the server chose it
	Value []byte // raw JSON of the request or the response; aliases what it was read from
}

var errTooManyInputs = errors.New("mcp: too many inputs at a time")

func readInputs(object []byte) ([]Input, error) {
	inputs := []Input{}
	err := jsonobject.Each(object, nil, func(name []byte, value jsontext.Value) error {
		if len(inputs) == MaxInputs {
			return errTooManyInputs
		}
		inputs = append(inputs, Input{string(name), value})
		return nil
	})
	return inputs, err
}

// Inputs returns inputs as one raw JSON object.
func Inputs(inputs []Input) []byte {
	size := len("{}")
	for _, in := range inputs {
		size += len(`"":,`) + len(in.Key) + len(in.Value)
	}
	return appendInputs(make([]byte, 0, size), inputs)
}

func appendInputs(out []byte, inputs []Input) []byte {
	out = append(out, '{')
	for i, in := range inputs {
		if i > 0 {
			out = append(out, ',')
		}
		out = jsonobject.AppendString(out, in.Key)
		out = append(append(out, ':'), in.Value...)
	}
	return append(out, '}')
}

var (
	errNothingAsked = errors.New("mcp: input_required with neither inputRequests nor requestState")
	errInputKind    = errors.New("mcp: a member of input_required has the wrong kind")
)

// Required reads a result that asks for input: requests in order and requestState, a raw
// string; both alias result. It fails if there is neither, on a wrong kind, an ambiguous name or
// one that cannot be sent back, and beyond MaxInputs. null is as good as no member.
func Required(result []byte) (asks []Input, state []byte, err error) {
	members, err := jsonobject.Named(result, mcp.MemberInputRequests, mcp.MemberRequestState)
	for i := range members {
		if members[i].Kind() == 'n' {
			members[i] = nil
		}
	}
	requests, state := members[0], []byte(members[1])
	switch {
	case err != nil:
	case requests == nil && state == nil:
		err = errNothingAsked
	case state != nil && jsontext.Value(state).Kind() != '"':
		err = fmt.Errorf("%w: %s", errInputKind, mcp.MemberRequestState)
	case requests != nil:
		asks, err = ReadRequests(requests)
	}
	if err != nil {
		return nil, nil, err
	}
	return asks, state, nil
}

// ReadRequests reads inputRequests in order, as Required does.
func ReadRequests(object jsontext.Value) ([]Input, error) {
	if object.Kind() != '{' {
		return nil, fmt.Errorf("%w: %s", errInputKind, mcp.MemberInputRequests)
	}
	asks, err := readInputs(object)
	for _, ask := range asks {
		switch {
		case err != nil:
			return nil, err
		case jsontext.Value(ask.Value).Kind() != '{':
			err = fmt.Errorf("%w: a request", errInputKind)
		case strings.ContainsRune(ask.Key, utf8.RuneError): // a lone surrogate is read as that
			err = fmt.Errorf("%w: a key", errInputKind)
		}
	}
	return asks, err
}

// Responses reads params.inputResponses of a tasks/update ("Task Update Requests"), or of a
// call's retry, that Peek takes; the values alias it. The error is an *Error: -32602 if they are missing, no object or
// too many, -32600 for an ambiguous name.
func Responses(body []byte) ([]Input, error) {
	responses, err := responsesOf(body)
	if err != nil {
		return nil, mcp.RefusalOf(err)
	}
	if responses.Kind() != '{' {
		return nil, mcp.ErrParams(mcp.MemberInputResponses + " is missing or no object")
	}
	inputs, err := readInputs(responses)
	switch {
	case errors.Is(err, errTooManyInputs):
		return nil, mcp.ErrParams("too many " + mcp.MemberInputResponses)
	case err != nil:
		return nil, mcp.RefusalOf(err)
	}
	return inputs, nil
}

// HasResponses reports whether a message has params.inputResponses, whatever that is.
func HasResponses(body []byte) bool {
	responses, err := responsesOf(body)
	return responses != nil || err != nil
}

// CheckResponse returns an *Error, -32602, if in is no InputResponse to what request asks: those are objects.
func (in Input) CheckResponse(request []byte) error {
	if jsontext.Value(in.Value).Kind() == '{' && isAnswer(request, in.Value) {
		return nil
	}
	refused := mcp.ErrParams("what " + mcp.MemberInputResponses + " holds under a key is no answer to what was asked")
	refused.Data = struct {
		Key string `json:"key"`
	}{in.Key}
	return refused
}

func responsesOf(body []byte) (jsontext.Value, error) {
	params := jsonobject.At(body, "params")
	if params.Kind() != '{' {
		return nil, nil
	}
	members, err := jsonobject.Named(params, mcp.MemberInputResponses)
	return members[0], err
}
