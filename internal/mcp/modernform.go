package mcp

import (
	"bytes"
	"encoding/json"
	"strconv"

	"berth/internal/jsonobject"
)

// ownInfoJSON names berth where a client or a server names itself.
var ownInfoJSON, _ = json.Marshal(OwnInfo())

// ModernForm returns a legacy server's response as one to a modern request of this id: a result with
// its type, one that may be cached with hints that say it should not, an error with the code of the
// modern era. The response is well formed.
func ModernForm(message, id []byte, cacheable bool) []byte {
	if result := ResultObject(message); result != nil {
		return Response(id, modernResult(result, cacheable))
	}
	object := ErrorObject(message)
	switch code, _ := strconv.Atoi(string(jsonobject.At(object, "code"))); {
	case code == codeNoResource:
		object = jsonobject.Replace(object, []byte(strconv.Itoa(CodeInvalidParams)), "code")
	case code <= CodeHeaderMismatch && code >= lastReserved:
		object = jsonobject.Replace(object, []byte(strconv.Itoa(CodeInternal)), "code")
	}
	return ErrorResponse(id, object)
}

const (
	codeNoSession  = -32001 // SDKs, which have it for a time-out as well
	codeNoResource = -32002 // 2025-11-25, resources, "Error Handling"

	// lastReserved ends the codes from CodeHeaderMismatch on, which mean in the modern era what that says alone (2026-07-28, basic, "Error
	// Codes"): those of a legacy server are its own.
	lastReserved = -32099
)

func modernResult(result []byte, cacheable bool) []byte {
	lead := []byte(`"resultType":"complete"`)
	if cacheable {
		lead = append(lead, `,"ttlMs":0,"cacheScope":"private"`...)
	}
	if bytes.Contains(result, []byte(`"resultType"`)) || cacheable && (bytes.Contains(result, []byte(`"ttlMs"`)) || bytes.Contains(result, []byte(`"cacheScope"`))) {
		p := jsonobject.Patch{{Name: "resultType", Value: []byte(`"complete"`)}}
		if cacheable {
			p = append(p, jsonobject.Change{Name: "ttlMs", Value: []byte("0")}, jsonobject.Change{Name: "cacheScope", Value: []byte(`"private"`)})
		}
		if out, err := p.Apply(result); err == nil {
			return out
		}
	}
	at := bytes.IndexByte(result, '{') + 1
	rest := bytes.TrimLeft(result[at:], " \t\r\n")
	out := append(make([]byte, 0, len(lead)+len(rest)+2), '{')
	out = append(out, lead...)
	if len(rest) > 0 && rest[0] != '}' {
		out = append(out, ',')
	}
	return append(out, rest...)
}

// WithNextCursor returns the response that bears a page of a list with this cursor for the next one.
func WithNextCursor(message []byte, cursor string) []byte {
	quoted := jsonobject.AppendString(nil, cursor)
	return jsonobject.Replace(message, quoted, "result", "nextCursor")
}

// InputRequest is what of a server's request stands in inputRequests: its method and its params.
func InputRequest(request []byte) []byte {
	values, err := jsonobject.Loose(request, "method", "params")
	if err != nil {
		return nil
	}
	out := append([]byte(`{"method":`), values[0]...)
	if values[1].Kind() == '{' {
		method, _ := jsonobject.Text(values[0])
		out = append(append(out, `,"params":`...), clearParams(method, values[1])...)
	}
	return append(out, '}')
}

// AskFor returns the result that asks a client for input.
func AskFor(asks []Input, state string) []byte {
	out := append([]byte(`{"resultType":"input_required","inputRequests":`), Inputs(asks)...)
	out = append(out, `,"requestState":`...)
	out = jsonobject.AppendString(out, state)
	return append(out, '}')
}

// LogLevelOf is the level of a notifications/message, "" if it has none.
func LogLevelOf(message []byte) string {
	level, _ := jsonobject.Text(jsonobject.At(message, "params", "level"))
	return level
}

// levels are those of RFC 5424 as MCP spells them, the least severe first.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// Severity orders log levels; -1 is none.
func Severity(level string) int {
	for i, name := range levels {
		if name == level {
			return i
		}
	}
	return -1
}

// IsElicitation reports whether a server's request asks the user something.
func IsElicitation(request []byte) bool {
	return jsonobject.IsString(jsonobject.At(request, "method"), methodElicit)
}
