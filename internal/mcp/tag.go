package mcp

import (
	"bytes"
	"encoding/json"
	"strings"

	"berth/internal/jsonobject"
	"berth/internal/sse"

	"github.com/go-json-experiment/json/jsontext"
)

// A tag stands before what a server numbers from 0 in each session, event ids and ids of its
// requests, so that those of two instances are told apart.

// TagEvent returns an event, or its beginning, with tag before its id and before the ids of the
// requests in message, its data if that is whole, else nil. What bears no id stays.
func TagEvent(raw, message []byte, tag string) []byte {
	tagged := tagMessages(message, tag)
	if bytes.Equal(tagged, message) {
		tagged = nil
	}
	return sse.WithTag(raw, tagged, tag)
}

// tagMessages tags what is in a message or batch. What cannot be read stays as it is.
func tagMessages(data []byte, tag string) []byte {
	if !IsBatch(data) {
		return TagMessage(data, tag)
	}
	var out []byte
	for message, err := range Messages(data) {
		if err != nil {
			return data
		}
		out = append(append(out, ','), TagMessage(message, tag)...)
	}
	if len(out) == 0 {
		return data
	}
	out[0] = '['
	return append(out, ']')
}

// TagMessage returns a server's message with tag before the id of a request, or of the one that it
// cancels.
func TagMessage(message []byte, tag string) []byte {
	a, err := PeekAnswer(message, false)
	switch {
	case err != nil || a.Method == "":
		return message
	case a.Method == MethodCancelled:
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

// UntagResponse returns a client's response under the id that the server made; ok is false if it
// answers somebody else.
func UntagResponse(response []byte, tag string) (body []byte, ok bool) {
	tagged, _ := jsonobject.Text(jsonobject.At(response, "id"))
	raw, ok := strings.CutPrefix(tagged, tag)
	id := jsontext.Value(raw)
	if !ok || !id.IsValid() || id.Kind() != '"' && id.Kind() != '0' {
		return nil, false
	}
	return jsonobject.Replace(response, id, "id"), true
}
