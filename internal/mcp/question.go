package mcp

import (
	"encoding/binary"

	"github.com/go-json-experiment/json/jsontext"
)

// ownOfRequest are members of `_meta` that tell one request from the next and do not
// bear on its answer.
var ownOfRequest = map[string]bool{"progressToken": true, "traceparent": true, "tracestate": true, "baggage": true}

// Question returns what a single request asks, without what is its own: its id and,
// of `_meta`, the progress token and the trace context. Requests with equal questions
// may share an answer, as far as their bodies go. The body must be one that Peek takes.
func Question(body []byte) []byte {
	var question []byte
	visit := func(object string, keep func(name string, value jsontext.Value) bool) func(string, jsontext.Value) error {
		return func(name string, value jsontext.Value) error {
			if keep(name, value) {
				question = appendPart(appendPart(appendPart(question, object), name), string(value))
			}
			return nil
		}
	}
	meta := visit("_meta", func(name string, _ jsontext.Value) bool { return !ownOfRequest[name] })
	params := visit("params", func(name string, value jsontext.Value) bool {
		return name != "_meta" || objectMembers(value, nil, meta) != nil
	})
	_ = members(body, nil, visit("", func(name string, value jsontext.Value) bool {
		return name != "id" && (name != "params" || objectMembers(value, nil, params) != nil)
	}))
	return question
}

// appendPart appends s so that no two lists of parts are alike.
func appendPart(to []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint64(to, uint64(len(s))), s...)
}
