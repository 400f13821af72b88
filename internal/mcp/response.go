package mcp

import (
	"bytes"
	"encoding/json"
	"slices"

	"berth/internal/build"
	"berth/internal/jsonobject"
)

// NarrowListen returns a subscriptions/listen with its taskIds reduced to keep; every other byte
// stays.
func NarrowListen(body []byte, keep []string) []byte {
	ids, _ := json.Marshal(append([]string{}, keep...))
	return jsonobject.Replace(body, ids, "params", "notifications", "taskIds")
}

// PollResult returns the result that a tasks/get would have had at the moment of a, in its dialect: a part of a, or in room.
func (a *Answer) PollResult(room []byte) []byte {
	switch a.Dialect {
	case DialectExtension:
		if from, to, ok := jsonobject.Locate(a.Result, "resultType"); ok {
			return append(append(append(room[:0], a.Result[:from]...), `"complete"`...), a.Result[to:]...)
		}
	case DialectCore:
		return jsonobject.At(a.Result, "task")
	}
	return a.Result
}

// WithStatusMessage returns the result of a tasks/get with this statusMessage.
func WithStatusMessage(result []byte, message string) []byte {
	text, _ := json.Marshal(message)
	if _, _, ok := jsonobject.Locate(result, "statusMessage"); ok {
		return jsonobject.Replace(result, text, "statusMessage")
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

// AsEnded returns the result of a tasks/get with a status that is an end, and this statusMessage; nil where that would not be
// whole: it has no status, or asks for input.
func AsEnded(result []byte, status, message string) []byte {
	if jsonobject.At(result, "status") == nil || jsonobject.At(result, "inputRequests") != nil {
		return nil
	}
	return WithStatusMessage(jsonobject.Replace(result, []byte(`"`+status+`"`), "status"), message)
}

// ID returns the raw id of a message that Peek takes, which it aliases; nil if it may not be
// answered to.
func ID(message []byte) []byte {
	if id := jsonobject.At(message, "id"); isToken(id) {
		return id
	}
	return nil
}

// WithID returns a JSON-RPC response under another id; every other byte stays, but for a byte order mark before it.
func WithID(message, id []byte) []byte { return jsonobject.Replace(Unmarked(message), id, "id") }

// ErrorResponse returns the JSON-RPC response under this raw id with this error object.
func ErrorResponse(id, object []byte) []byte { return response(id, "error", object) }

// Response returns the JSON-RPC response under this raw id with this result.
func Response(id, result []byte) []byte { return response(id, "result", result) }

func response(id []byte, member string, value []byte) []byte {
	return slices.Concat([]byte(ResponseBegin), id, []byte(`,"`), []byte(member), []byte(`":`), value, []byte{'}'})
}

// ResponseBegin begins a response, up to its id.
const ResponseBegin = `{"jsonrpc":"2.0","id":`

// ErrorParts is ErrorResponse without a copy of a large object.
func ErrorParts(id, object []byte) Parts {
	return Around(ResponseHead(id, "error"), object, []byte{'}'})
}

// ResponseHead begins the response under this raw id, up to the value of its result or error.
func ResponseHead(id []byte, member string) []byte {
	return slices.Concat([]byte(ResponseBegin), id, []byte(`,"`+member+`":`))
}

// EmptyResponse acknowledges a modern request that has no result of its own (Tasks extension, "Task
// Cancellation").
func EmptyResponse(id []byte) []byte {
	return Response(id, []byte(`{"resultType":"complete",`+MetaOfOwn+`}`))
}

// OwnName is the name of berth as a server.
const OwnName = "berth"

// OwnServerInfo names berth in results of its own (2026-07-28, basic, "Per-response protocol fields").
// A result that a tool gave is that tool's server's.
const OwnServerInfo = `"io.modelcontextprotocol/serverInfo":{"name":"` + OwnName + `","version":"` + build.Version + `"}`

// MetaOfOwn is the `_meta` of a result of berth's own that has nothing else in it.
const MetaOfOwn = `"_meta":{` + OwnServerInfo + `}`

// CursorIn is the nextCursor of a list's result, "" if there is none.
func CursorIn(result []byte) string {
	cursor, _ := jsonobject.Text(jsonobject.At(result, "nextCursor"))
	return cursor
}

// WithNextCursor returns the response that bears a page of a list with this cursor for the next one.
func WithNextCursor(message []byte, cursor string) []byte {
	quoted := jsonobject.AppendString(nil, cursor)
	return jsonobject.Replace(message, quoted, "result", "nextCursor")
}
