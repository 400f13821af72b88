package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
)

// NarrowListen returns the body of a subscriptions/listen with the taskIds of its
// filter reduced to keep; every other byte stays as it came.
func NarrowListen(body []byte, keep []string) []byte {
	ids, _ := json.Marshal(append([]string{}, keep...))
	return replace(body, ids, "params", "notifications", "taskIds")
}

// replace puts value in the place of the member that path names, and leaves body
// alone if there is none.
func replace(body, value []byte, path ...string) []byte {
	from, to, ok := locate(body, path...)
	if !ok {
		return body
	}
	out := make([]byte, 0, from+len(value)+len(body)-to)
	out = append(out, body[:from]...)
	out = append(out, value...)
	return append(out, body[to:]...)
}

// locate finds where the value of the member that path names stands in data.
func locate(data []byte, path ...string) (from, to int, ok bool) {
	r := read(data)
	defer r.release()
	for _, want := range path {
		if !r.enter(want) {
			return 0, 0, false
		}
	}
	value := r.value()
	return r.at() - len(value), r.at(), r.err == nil
}

// enter steps into the object that comes next and up to the value of its member name. It
// reports whether there is one.
func (r *reader) enter(name string) bool {
	if r.kind() != '{' {
		return false
	}
	r.token()
	for r.kind() == '"' {
		if string(r.name()) == name {
			return true
		}
		r.value()
	}
	return false
}

// PollResult returns the result that a tasks/get would have had at the moment of
// a: the task as it was handed out or as it was last told, in its dialect.
func (a *Answer) PollResult() []byte {
	switch a.Dialect {
	case DialectExtension:
		return replace(a.Result, []byte(`"complete"`), "resultType")
	case DialectCore:
		from, to, ok := locate(a.Result, "task")
		if !ok {
			return nil
		}
		return a.Result[from:to]
	}
	return a.Result
}

// WithStatusMessage returns the result of a tasks/get with its statusMessage
// replaced by message, or added.
func WithStatusMessage(result []byte, message string) []byte {
	text, _ := json.Marshal(message)
	if _, _, ok := locate(result, "statusMessage"); ok {
		return replace(result, text, "statusMessage")
	}
	end := bytes.LastIndexByte(result, '}')
	if end < 0 {
		return result
	}
	out := append(make([]byte, 0, len(result)+len(text)+20), result[:end]...)
	if !bytes.HasSuffix(bytes.TrimSpace(out), []byte("{")) {
		out = append(out, ',')
	}
	out = append(append(out, `"statusMessage":`...), text...)
	return append(out, result[end:]...)
}

// ID returns the raw id of a message that Peek takes, nil if there is none that may be
// answered to. It aliases message.
func ID(message []byte) []byte {
	from, to, ok := locate(message, "id")
	if !ok || !isToken(message[from:to]) {
		return nil
	}
	return message[from:to]
}

// WithID returns the JSON-RPC response message with its id replaced; every other byte
// stays as it came.
func WithID(message, id []byte) []byte { return replace(message, id, "id") }

// ErrorResponse returns a JSON-RPC error response with this error object for the request
// with this id.
func ErrorResponse(id, object []byte) []byte { return response(id, "error", object) }

// Response returns a JSON-RPC response with this result for the request with
// this id.
func Response(id, result []byte) []byte { return response(id, "result", result) }

func response(id []byte, member string, value []byte) []byte {
	return slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"`+member+`":`), value, []byte{'}'})
}

// ErrorParts is ErrorResponse without a copy of a large object.
func ErrorParts(id, object []byte) Parts {
	return around(responseHead(id, "error"), object, []byte{'}'})
}

func responseHead(id []byte, member string) []byte {
	return slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"`+member+`":`))
}

// EmptyResponse returns the response with which a request of the modern era is
// acknowledged that has no result of its own, such as tasks/cancel (Tasks extension, "Task
// Cancellation").
func EmptyResponse(id []byte) []byte {
	return Response(id, []byte(`{"resultType":"complete",`+ownMeta+`}`))
}
