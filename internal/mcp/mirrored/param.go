package mirrored

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"berth/internal/jsonobject"
	"berth/internal/mcp"

	"github.com/go-json-experiment/json/jsontext"
)

// CheckParam holds the header that mirrors a parameter of a tools/call against the argument of that
// name, and returns it as that has it. The schema, which berth does not read, may mean another
// argument: where none at the top level has the name, or it has parts of its own, the server
// judges.
func CheckParam(body []byte, parameter, value string) (string, *mcp.Error) {
	if !utf8.ValidString(value) {
		return "", mcp.ErrMismatch("an Mcp-Param header holds invalid characters")
	}
	arguments := jsonobject.At(body, "params", "arguments")
	if arguments.Kind() != '{' {
		return value, nil
	}
	named, equal := false, false
	err := jsonobject.Each(arguments, nil, func(name []byte, argument jsontext.Value) error {
		kind := argument.Kind()
		if squeeze(string(name)) != squeeze(parameter) || kind == '{' || kind == '[' {
			return nil
		}
		named = true
		if same, text := mirrors(value, argument); same && !equal {
			value, equal = text, true
		}
		return nil
	})
	if err != nil || named && !equal {
		return "", mcp.ErrMismatch("an Mcp-Param header is not the argument in the body")
	}
	return value, nil
}

// mirrors reports whether value is the argument's, and how that has it: numbers are compared as
// such (2026-07-28, "Server Validation").
func mirrors(value string, argument jsontext.Value) (same bool, text string) {
	if argument.Kind() == '0' {
		one, err := strconv.ParseFloat(value, 64)
		other, fault := strconv.ParseFloat(string(argument), 64)
		safe := one > -1<<53 && one < 1<<53 // every integer can be told from its neighbours
		return value == string(argument) || err == nil && fault == nil && one == other && safe, string(argument)
	}
	text, ok := headerText(argument)
	return ok && text == value, text
}

// StructuredValue returns the member of a tool's structured content that has the name of a header
// parameter, whatever its case, "-" and "_", as that header would carry it. result is the call's,
// or a task that bears it. ok is false if not one member is meant, or it has parts of its own
// (2026-07-28, "Value Encoding").
func StructuredValue(result []byte, parameter string) (value string, ok bool) {
	content := jsonobject.At(result, "structuredContent")
	if content == nil {
		content = jsonobject.At(result, "result", "structuredContent")
	}
	matches := 0
	err := jsonobject.Each(content, nil, func(name []byte, v jsontext.Value) error {
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
		return jsonobject.Text(v)
	case '0':
		return string(v), !strings.ContainsAny(string(v), ".eE")
	case 't', 'f':
		return string(v), true
	}
	return "", false
}
