package mcp

import (
	"berth/internal/jsonscan"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendString appends s as a JSON string, in which what is no UTF-8 is the replacement character, as encoding/json has it. Nearly
// all stand there as they are.
func AppendString(to []byte, s string) []byte {
	if jsonscan.IsVerbatim(s) {
		return append(append(append(to, '"'), s...), '"')
	}
	to, _ = jsontext.AppendQuote(to, s)
	return to
}
