package mcp

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// StructuredValue returns the member of a tool's structured content that has the name of
// a header parameter, as that header would carry it: letter case, "-" and "_" do not
// count, so that Mcp-Param-Basket-Id means basket_id and basketId. result is that of the
// call, or of a task that bears it. ok is false if there is no such member, or several,
// or it is neither a string nor an integer nor a boolean (2026-07-28, "Value Encoding").
func StructuredValue(result []byte, parameter string) (value string, ok bool) {
	from, to, found := locate(result, "structuredContent")
	if !found {
		from, to, found = locate(result, "result", "structuredContent")
	}
	if !found || jsontext.Value(result[from:to]).Kind() != '{' {
		return "", false
	}
	matches := 0
	err := members(result[from:to], nil, func(name []byte, v jsontext.Value) error {
		if squeeze(string(name)) == squeeze(parameter) {
			matches++
			value, ok = headerText(v)
		}
		return nil
	})
	if err != nil || matches != 1 {
		return "", false
	}
	return value, ok
}

// squeeze is a name without what a header's name and a member's write differently.
func squeeze(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
}

func headerText(v jsontext.Value) (string, bool) {
	switch v.Kind() {
	case '"':
		return text(v)
	case '0':
		return string(v), !strings.ContainsAny(string(v), ".eE")
	case 't', 'f':
		return string(v), true
	}
	return "", false
}
