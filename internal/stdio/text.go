package stdio

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// oneLine returns a JSON message without line ends, which it may have between its tokens; what is no
// JSON stays.
func oneLine(message []byte) []byte {
	var out bytes.Buffer
	if !bytes.ContainsAny(message, "\r\n") || json.Compact(&out, message) != nil {
		return message
	}
	return out.Bytes()
}

func number(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// numbered returns the number that a raw id is, if it is one that berth makes.
func numbered(id []byte) (n int64, ok bool) {
	n, err := strconv.ParseInt(string(id), 10, 64)
	return n, err == nil
}

// answered is numbered of the id that a process answers by: some make a string of it, or a number with a fraction.
func answered(id []byte) (n int64, ok bool) {
	return numbered(bytes.TrimSuffix(bytes.Trim(id, `"`), []byte(".0")))
}
