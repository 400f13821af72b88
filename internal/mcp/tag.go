package mcp

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A tag stands before what a server numbers within a session: event ids, and ids of
// requests of its own. Servers count both from 0 in each session, so that those of two
// instances are the same; with a tag they are told apart, by whoever sees them.

// TagEvent returns the bytes of an event, or its beginning, with tag before its id
// and before the ids of the requests in message, which is the data of the event; nil
// if there is none or it is not whole. What bears no id stays byte for byte.
func TagEvent(raw, message []byte, tag string) []byte {
	tagged := tagMessages(message, tag)
	if bytes.Equal(tagged, message) {
		tagged = nil
	}
	return rewriteEvent(raw, tagged, tag)
}

// tagMessages tags the ids of a server's requests in a message or batch, and what
// its notifications/cancelled say of them. What cannot be read stays as it is.
func tagMessages(data []byte, tag string) []byte {
	if !isBatch(data) {
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

// TagMessage returns a server's message with tag before the id of a request, or before what
// a notifications/cancelled says of one. Any other comes back as it is.
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
	old := memberAt(message, path...)
	if old == nil {
		return message
	}
	id, _ := json.Marshal(tag + string(old)) // a string always marshals
	return replace(message, id, path...)
}

// UntagResponse returns a client's response with its id as the server made it that
// tag stands for; ok is false if it answers somebody else.
func UntagResponse(response []byte, tag string) (body []byte, ok bool) {
	tagged, _ := text(memberAt(response, "id"))
	raw, ok := strings.CutPrefix(tagged, tag)
	id := jsontext.Value(raw)
	if !ok || !id.IsValid() || id.Kind() != '"' && id.Kind() != '0' {
		return nil, false
	}
	return replace(response, id, "id"), true
}
