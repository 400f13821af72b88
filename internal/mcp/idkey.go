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

// Answers reports whether a is the response to the request with this raw id, however the
// two are spelt.
func (a *Answer) Answers(id []byte) bool {
	return a.Method == "" && a.ID != nil && (bytes.Equal(a.ID, id) || IDKey(a.ID) == IDKey(id))
}

// IsNobodys reports whether a is an error that names no request: the id is null, or left
// out, where the one that was meant could not be read (JSON-RPC 2.0, "Response object").
func (a *Answer) IsNobodys() bool {
	return a.Method == "" && a.IsError && (a.ID == nil || string(a.ID) == "null")
}

// IsCrossed reports whether a, which is all that was answered to the request with this raw
// id, is the response to another one, or to none: an error that names none is the request's
// own, for the exchange says so.
func (a *Answer) IsCrossed(id []byte) bool {
	return a.Method == "" && (a.HasResult || a.IsError) && !a.Answers(id) && !a.IsNobodys()
}

// isInteger reports whether a number is spelled as integers are. -0 is 0 to most.
func isInteger(raw []byte) bool {
	digits := bytes.TrimPrefix(raw, []byte("-"))
	return len(bytes.Trim(digits, "0123456789")) == 0 && string(raw) != "-0"
}
