package jsonobject

import (
	"berth/internal/jsonscan"

	"github.com/go-json-experiment/json/jsontext"
)

// NameOf is the name that s stepped over last. plain: it stands there as it is.
func NameOf(s *jsonscan.Scanner) (name []byte, plain bool) {
	quoted := s.Named()
	if s.IsPlain() {
		return quoted[1 : len(quoted)-1], true
	}
	name, _ = Unquote(quoted)
	return name, false
}

// Unquote returns what is in the string value. Where that is plain, it aliases value.
func Unquote(value jsontext.Value) (s []byte, plain bool) {
	if len(value) < 2 {
		return nil, false
	}
	if s = value[1 : len(value)-1]; jsonscan.IsPlain(s) {
		return s, true
	}
	s, _ = jsontext.AppendUnquote(nil, value) // no UTF-8 is read as U+FFFD
	return s, false
}

// IsString reports whether value is the string s.
func IsString(value jsontext.Value, s string) bool {
	b, _ := Unquote(value)
	return value.Kind() == '"' && string(b) == s
}

// Text returns what the string value says; ok is false if it is no string.
func Text(value jsontext.Value) (s string, ok bool) {
	if value.Kind() != '"' {
		return "", false
	}
	b, _ := Unquote(value)
	return string(b), true
}

// AppendString appends s as a JSON string, in which what is no UTF-8 is the replacement character, as encoding/json has it. Nearly
// all stand there as they are.
func AppendString(to []byte, s string) []byte {
	if jsonscan.IsVerbatim(s) {
		return append(append(append(to, '"'), s...), '"')
	}
	to, _ = jsontext.AppendQuote(to, s)
	return to
}
