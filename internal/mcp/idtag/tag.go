package idtag

import (
	"bytes"
	"encoding/json"
	"strings"

	"berth/internal/jsonobject"
	"berth/internal/mcp"
	"berth/internal/sse"

	"github.com/go-json-experiment/json/jsontext"
)

// Event returns an event, or its beginning, with tag before its id and before the ids of the
// requests in message, its data if that is whole, else nil. What bears no id stays.
func Event(raw, message []byte, tag string) []byte {
	tagged := messages(message, tag)
	if bytes.Equal(tagged, message) {
		tagged = nil
	}
	return sse.WithTag(raw, tagged, tag)
}

// messages tags what is in a message or batch. What cannot be read stays as it is.
func messages(data []byte, tag string) []byte {
	if !mcp.IsBatch(data) {
		return Message(data, tag)
	}
	var out []byte
	for message, err := range mcp.Messages(data) {
		if err != nil {
			return data
		}
		out = append(append(out, ','), Message(message, tag)...)
	}
	if len(out) == 0 {
		return data
	}
	out[0] = '['
	return append(out, ']')
}

// Message returns a server's message with tag before the id of a request, or of the one that it
// cancels.
func Message(message []byte, tag string) []byte {
	a, err := mcp.PeekAnswer(message, false)
	switch {
	case err != nil || a.Method == "":
		return message
	case a.Method == mcp.MethodCancelled:
		return tagID(message, tag, "params", "requestId")
	}
	return tagID(message, tag, "id")
}

func tagID(message []byte, tag string, path ...string) []byte {
	old := jsonobject.At(message, path...)
	if old == nil {
		return message
	}
	id, _ := json.Marshal(tag + string(old)) // a string always marshals
	return jsonobject.Replace(message, id, path...)
}

// Untag returns a client's response under the id that the server made; ok is false if it
// answers somebody else.
func Untag(response []byte, tag string) (body []byte, ok bool) {
	tagged, _ := jsonobject.Text(jsonobject.At(response, "id"))
	raw, ok := strings.CutPrefix(tagged, tag)
	id := jsontext.Value(raw)
	if !ok || !id.IsValid() || id.Kind() != '"' && id.Kind() != '0' {
		return nil, false
	}
	return jsonobject.Replace(response, id, "id"), true
}
