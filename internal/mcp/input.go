package mcp

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxInputs bounds what one input_required result may ask for, and what one
// tasks/update may answer. No real server asks for a tenth of it at a time.
const MaxInputs = 64

// Input is one member of inputRequests or inputResponses (2026-07-28, multi round-trip
// requests, "Core Types").
type Input struct {
	Key   string // names the request, and the response to it; the server chose it
	Value []byte // raw JSON of the request or the response; aliases what it was read from
}

var errTooManyInputs = errors.New("mcp: too many inputs at a time")

// readInputs reads the members of an inputRequests or inputResponses, in order.
func readInputs(object []byte) ([]Input, error) {
	inputs := []Input{}
	err := objectMembers(object, nil, func(name []byte, value jsontext.Value) error {
		if len(inputs) == MaxInputs {
			return errTooManyInputs
		}
		inputs = append(inputs, Input{string(name), value})
		return nil
	})
	return inputs, err
}

// Inputs returns inputs as one raw JSON object.
func Inputs(inputs []Input) []byte { return appendInputs(make([]byte, 0, sizeOf(inputs)), inputs) }

func appendInputs(out []byte, inputs []Input) []byte {
	out = append(out, '{')
	for i, in := range inputs {
		if i > 0 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, in.Key)
		out = append(append(out, ':'), in.Value...)
	}
	return append(out, '}')
}

// sizeOf is about how many bytes appendInputs appends.
func sizeOf(inputs []Input) int {
	n := len("{}")
	for _, in := range inputs {
		n += len(`"":,`) + len(in.Key) + len(in.Value)
	}
	return n
}
