package mcp

import (
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// hasForeignBytes reports whether a header's value holds anything but what the specification
// lets it: visible ASCII, space and tab (2026-07-28, "Value Encoding").
func hasForeignBytes(value string) bool {
	for i := range len(value) {
		if c := value[i]; c != '\t' && (c < 0x20 || c > 0x7e) {
			return true
		}
	}
	return false
}

// CheckParam holds the value of the header that mirrors a parameter of a tools/call against
// the argument of that name, and returns it as that has it. The tool's schema, which berth
// does not read, may name another argument or one that is nested deeper: where none at the
// top level has the name, or it has parts of its own, the server judges.
func CheckParam(body []byte, parameter, value string) (string, *Error) {
	if !utf8.ValidString(value) {
		return "", errMismatch("an Mcp-Param header holds invalid characters")
	}
	from, to, ok := locate(body, "params", "arguments")
	if !ok || jsontext.Value(body[from:to]).Kind() != '{' {
		return value, nil
	}
	named, equal := false, false
	err := members(body[from:to], nil, func(name []byte, argument jsontext.Value) error {
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
		return "", errMismatch("an Mcp-Param header is not the argument in the body")
	}
	return value, nil
}

// mirrors reports whether a header's value is that of an argument, and how the argument has
// it: numbers are compared as such (2026-07-28, "Server Validation").
func mirrors(value string, argument jsontext.Value) (same bool, text string) {
	if argument.Kind() == '0' {
		one, err := strconv.ParseFloat(value, 64)
		other, fault := strconv.ParseFloat(string(argument), 64)
		return value == string(argument) || err == nil && fault == nil && one == other && isSafe(one), string(argument)
	}
	text, ok := headerText(argument)
	return ok && text == value, text
}

// isSafe reports whether every integer up to n can be told from its neighbours.
func isSafe(n float64) bool { return n > -1<<53 && n < 1<<53 }
