package mcp

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A mark stands before what a server numbers within a session: event ids, and ids of
// requests of its own. Servers count both from 0 in each session, so that those of two
// instances are the same; with a mark they are told apart, by whoever sees them.

// MarkEvent returns the bytes of an event, or its beginning, with mark before its id
// and before the ids of the requests in message, which is the data of the event; nil
// if there is none or it is not whole. What bears no id stays byte for byte.
func MarkEvent(raw, message []byte, mark string) []byte {
	marked := markMessages(message, mark)
	changed, written := !bytes.Equal(marked, message), false
	out := make([]byte, 0, len(raw)+2*len(mark)+16)
	for len(raw) > 0 {
		line, end := cutLine(raw)
		raw = raw[len(line)+len(end):]
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch name := string(field); {
		case name == "id" && len(value) > 0 && len(end) > 0:
			out = append(append(append(append(out, "id: "...), mark...), value...), end...)
		case name == "data" && written: // it stands in the first one
		case name == "data" && changed:
			written = true
			for data := range bytes.SplitSeq(marked, []byte("\n")) {
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

// markMessages marks the ids of a server's requests in a message or batch, and what
// its notifications/cancelled say of them. What cannot be read stays as it is.
func markMessages(data []byte, mark string) []byte {
	if !isBatch(data) {
		return markMessage(data, mark)
	}
	var out []byte
	for message, err := range Messages(data) {
		if err != nil {
			return data
		}
		out = append(append(out, ','), markMessage(message, mark)...)
	}
	if len(out) == 0 {
		return data
	}
	out[0] = '['
	return append(out, ']')
}

func markMessage(message []byte, mark string) []byte {
	a, err := PeekAnswer(message, false)
	switch {
	case err != nil || a.Method == "":
		return message
	case a.Method == MethodCancelled:
		return markID(message, mark, "params", "requestId")
	}
	return markID(message, mark, "id")
}

func markID(message []byte, mark string, path ...string) []byte {
	from, to, ok := locate(message, path...)
	if !ok {
		return message
	}
	id, _ := json.Marshal(mark + string(message[from:to])) // a string always marshals
	return replace(message, id, path...)
}

// UnmarkResponse returns a client's response with its id as the server made it that
// mark stands for; ok is false if it answers somebody else.
func UnmarkResponse(response []byte, mark string) (body []byte, ok bool) {
	from, to, ok := locate(response, "id")
	if !ok {
		return nil, false
	}
	marked, _ := text(jsontext.Value(response[from:to]))
	raw, ok := strings.CutPrefix(marked, mark)
	id := jsontext.Value(raw)
	if !ok || !id.IsValid() || id.Kind() != '"' && id.Kind() != '0' {
		return nil, false
	}
	return replace(response, id, "id"), true
}

// ResourceURI returns params.uri of a message, "" if there is none.
func ResourceURI(message []byte) string {
	from, to, ok := locate(message, "params", "uri")
	if !ok {
		return ""
	}
	uri, _ := text(jsontext.Value(message[from:to]))
	return uri
}
