package eras

import (
	"bytes"
	"encoding/json"
	"strconv"

	"berth/internal/jsonobject"
	"berth/internal/mcp"
)

// ownInfoJSON names berth where a client or a server names itself.
var ownInfoJSON, _ = json.Marshal(mcp.OwnInfo())

// ModernForm returns a legacy server's response as one to a modern request of this id: a result with
// its type, one that may be cached with hints that say it should not, an error with the code of the
// modern era. The response is well formed.
func ModernForm(message, id []byte, cacheable bool) []byte {
	if result := mcp.ResultObject(message); result != nil {
		return mcp.Response(id, modernResult(result, cacheable))
	}
	return mcp.ErrorResponse(id, ModernError(mcp.ErrorObject(message)))
}

// ModernError returns a legacy server's error object with the code of the modern era, written as clients read integers. nil stays nil.
func ModernError(object []byte) []byte {
	written := jsonobject.At(object, "code")
	code := mcp.CodeOf(written)
	switch {
	case code == 0:
		return object
	case code == mcp.CodeNoResource:
		code = mcp.CodeInvalidParams
	case code <= mcp.CodeHeaderMismatch && code >= lastReserved:
		code = mcp.CodeInternal
	}
	if text := strconv.Itoa(code); text != string(written) {
		object = jsonobject.Replace(object, []byte(text), "code")
	}
	return object
}

// lastReserved ends the codes from CodeHeaderMismatch on, which mean in the modern era what that says alone (2026-07-28, basic, "Error
// Codes"): those of a legacy server are its own.
const lastReserved = -32099

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
