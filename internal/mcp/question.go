package mcp

import (
	"encoding/binary"

	"github.com/go-json-experiment/json/jsontext"
)

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
