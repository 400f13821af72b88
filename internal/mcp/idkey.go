package mcp

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// IDKey returns a raw JSON-RPC id as all who spell it otherwise have it: PHP escapes
// slashes, Python what is not ASCII, and a parser that reads all numbers as floating ones
// returns 1 for 1.0. Integers keep all their digits. "1" and 1 stay apart. What cannot be
// read is returned as it is.
func IDKey(raw []byte) string {
	key := jsontext.Value(bytes.Clone(raw))
	if isInteger(raw) || key.Canonicalize() != nil {
		return string(raw)
	}
	return string(key)
}

// isInteger reports whether a number is spelled as integers are. -0 is 0 to most.
func isInteger(raw []byte) bool {
	digits := bytes.TrimPrefix(raw, []byte("-"))
	return len(bytes.Trim(digits, "0123456789")) == 0 && string(raw) != "-0"
}
