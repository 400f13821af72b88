package mcp

import "github.com/go-json-experiment/json/jsontext"

// ResourceURI returns params.uri of a message, "" if there is none.
func ResourceURI(message []byte) string {
	from, to, ok := locate(message, "params", "uri")
	if !ok {
		return ""
	}
	uri, _ := text(jsontext.Value(message[from:to]))
	return uri
}
