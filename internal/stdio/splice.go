package stdio

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// compacted returns a JSON value without the blanks between its tokens; what is no JSON stays.
func compacted(value []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, value) != nil {
		return value
	}
	return out.Bytes()
}

// replaced returns message with another value where path leads; every other byte stays. A message
// in which it leads nowhere stays as it is.
func replaced(message, value []byte, path ...string) []byte {
	from, to, ok := find(message, path)
	if !ok {
		return message
	}
	return slices.Concat(message[:from], value, message[to:])
}

// find returns where the value stands to which path leads: of several members of a name to the
// first.
func find(message []byte, path []string) (from, to int, ok bool) {
	d := json.NewDecoder(bytes.NewReader(message))
	for _, name := range path {
		if !enter(d, name) {
			return 0, 0, false
		}
	}
	var value json.RawMessage
	if d.Decode(&value) != nil {
		return 0, 0, false
	}
	to = int(d.InputOffset())
	return to - len(value), to, true
}

// enter steps up to the value of the next object's member of that name, if it has one.
func enter(d *json.Decoder, name string) bool {
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return false
	}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return false
		}
		if token == name {
			return true
		}
		var passed json.RawMessage
		if d.Decode(&passed) != nil {
			return false
		}
	}
	return false
}

// param returns the string that path leads to in params, "" if there is none.
func param(message []byte, path ...string) string {
	from, to, ok := find(message, append([]string{"params"}, path...))
	if !ok {
		return ""
	}
	var text string
	if json.Unmarshal(message[from:to], &text) != nil {
		return ""
	}
	return text
}

func number(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// numbered returns the number that a raw id is, if it is one that berth makes.
func numbered(id []byte) (n int64, ok bool) {
	n, err := strconv.ParseInt(string(id), 10, 64)
	return n, err == nil
}
