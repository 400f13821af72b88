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
	changed, written := !bytes.Equal(tagged, message), false
	out := make([]byte, 0, len(raw)+2*len(tag)+16)
	for len(raw) > 0 {
		line, end := cutLine(raw)
		raw = raw[len(line)+len(end):]
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch name := string(field); {
		case name == "id" && len(value) > 0 && len(end) > 0:
			out = append(append(append(append(out, "id: "...), tag...), value...), end...)
		case name == "data" && written: // it stands in the first one
		case name == "data" && changed:
			written = true
			for data := range bytes.SplitSeq(tagged, []byte("\n")) {
				out = append(append(append(out, "data: "...), data...), end...)
			}
		default:
			out = append(append(out, line...), end...)
		}
	}
	return out
}

// cutLine returns the first line of raw and what ends it, "" if nothing does.
func cutLine(raw []byte) (line, end []byte) {
	n := bytes.IndexAny(raw, "\r\n")
	if n < 0 {
		return raw, nil
	}
	width := 1
	if bytes.HasPrefix(raw[n:], []byte("\r\n")) {
		width = 2
	}
	return raw[:n], raw[n : n+width]
}

// tagMessages tags the ids of a server's requests in a message or batch, and what
// its notifications/cancelled say of them. What cannot be read stays as it is.
func tagMessages(data []byte, tag string) []byte {
	if !isBatch(data) {
		return tagMessage(data, tag)
	}
	var out []byte
	for message, err := range Messages(data) {
		if err != nil {
			return data
		}
		out = append(append(out, ','), tagMessage(message, tag)...)
	}
	if len(out) == 0 {
		return data
	}
	out[0] = '['
	return append(out, ']')
}

func tagMessage(message []byte, tag string) []byte {
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
	from, to, ok := locate(message, path...)
	if !ok {
		return message
	}
	id, _ := json.Marshal(tag + string(message[from:to])) // a string always marshals
	return replace(message, id, path...)
}

// UntagResponse returns a client's response with its id as the server made it that
// tag stands for; ok is false if it answers somebody else.
func UntagResponse(response []byte, tag string) (body []byte, ok bool) {
	from, to, ok := locate(response, "id")
	if !ok {
		return nil, false
	}
	tagged, _ := text(jsontext.Value(response[from:to]))
	raw, ok := strings.CutPrefix(tagged, tag)
	id := jsontext.Value(raw)
	if !ok || !id.IsValid() || id.Kind() != '"' && id.Kind() != '0' {
		return nil, false
	}
	return replace(response, id, "id"), true
}
