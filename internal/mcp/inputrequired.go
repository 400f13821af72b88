package mcp

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Members of multi round-trip requests (2026-07-28, "Core Types").
const (
	memberInputRequests  = "inputRequests"
	memberInputResponses = "inputResponses"
	memberRequestState   = "requestState"
)

const (
	// ResultInputRequired is the resultType of a result that asks for input.
	ResultInputRequired = "input_required"
	// ResultTask is that of a result which hands out a task of the Tasks extension.
	ResultTask = "task"
)

var (
	errNothingAsked = errors.New("mcp: input_required with neither inputRequests nor requestState")
	errInputKind    = errors.New("mcp: a member of input_required has the wrong kind")
)

// InputRequired reads a result that says `resultType: "input_required"`: what it asks
// for, in order, and the raw JSON string of its requestState, nil if it has none. Both
// alias result. It fails if there is neither, if one has the wrong kind, on names that two
// readers could understand differently or that cannot be sent back as they came, and on
// more than MaxInputs requests. null is as good as no member.
func InputRequired(result []byte) (asks []Input, state []byte, err error) {
	var requests jsontext.Value
	err = objectMembers(result, []string{memberInputRequests, memberRequestState}, func(name []byte, value jsontext.Value) error {
		switch {
		case value.Kind() == 'n':
		case string(name) == memberInputRequests:
			requests = value
		case string(name) == memberRequestState:
			state = value
		}
		return nil
	})
	switch {
	case err != nil:
	case requests == nil && state == nil:
		err = errNothingAsked
	case state != nil && jsontext.Value(state).Kind() != '"':
		err = fmt.Errorf("%w: %s", errInputKind, memberRequestState)
	case requests != nil:
		asks, err = readRequests(requests)
	}
	if err != nil {
		return nil, nil, err
	}
	return asks, state, nil
}

func readRequests(object jsontext.Value) ([]Input, error) {
	if object.Kind() != '{' {
		return nil, fmt.Errorf("%w: %s", errInputKind, memberInputRequests)
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

// InputResponses reads params.inputResponses of a tasks/update, in order (Tasks
// extension, "Task Update Requests"). The body must be one that Peek takes; the values
// alias it. The error is an *Error to answer with: -32602 if they are missing, no object
// or more than MaxInputs, and -32600 if two readers could understand their names
// differently.
func InputResponses(body []byte) ([]Input, error) {
	responses, err := responsesOf(body)
	if err != nil {
		return nil, refusal(err)
	}
	if responses.Kind() != '{' {
		return nil, errParams(memberInputResponses + " is missing or no object")
	}
	inputs, err := readInputs(responses)
	switch {
	case errors.Is(err, errTooManyInputs):
		return nil, errParams("too many " + memberInputResponses)
	case err != nil:
		return nil, refusal(err)
	}
	return inputs, nil
}

func responsesOf(body []byte) (responses jsontext.Value, err error) {
	from, to, ok := locate(body, "params")
	if !ok || body[from] != '{' {
		return nil, nil
	}
	err = members(body[from:to], []string{memberInputResponses}, func(name []byte, value jsontext.Value) error {
		if string(name) == memberInputResponses {
			responses = value
		}
		return nil
	})
	return responses, err
}
