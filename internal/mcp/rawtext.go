package mcp

import (
	"berth/internal/jsonobject"
	"berth/internal/jsonscan"

	"github.com/go-json-experiment/json/jsontext"
)

// rawText is a string as it stands in a message.
type rawText struct {
	value jsontext.Value
	plain bool
}

// decoded returns the string, or like where that is the same; bad is another kind.
func (t rawText) decoded(like string) (s string, bad bool) {
	switch {
	case !isText(t.value):
		return "", t.value != nil
	case t.plain:
		return known(t.value[1:len(t.value)-1], like), false
	}
	b, _ := jsonobject.Unquote(t.value)
	return known(b, like), false
}

// textOf returns the string in the value that s has passed over last, or like where that is the same; bad is another kind.
func textOf(s *jsonscan.Scanner, value []byte, like string) (text string, bad bool) {
	return rawText{value, s.IsPlain()}.decoded(like)
}

// known is b as a string: like, where that is the same.
func known(b []byte, like string) string {
	if string(b) == like {
		return like
	}
	return word(b)
}

// isText, isNumber and isObject are by the first byte, before which no blanks stand in what a scanner hands out.
func isText(value []byte) bool   { return len(value) > 0 && value[0] == '"' }
func isNumber(value []byte) bool { return len(value) > 0 && (value[0]-'0' <= 9 || value[0] == '-') }
func isObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }
