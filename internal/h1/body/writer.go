package body

import (
	"errors"
	"strconv"
)

// ErrTooLong says that more was written than the length that was announced.
var ErrTooLong = errors.New("http1: body longer than announced")

// LastChunk ends a chunked body.
const LastChunk = "0\r\n\r\n"

// AppendSize appends the line before a chunk of n bytes, more than none, to b. The chunk ends with CRLF.
func AppendSize(b []byte, n int) []byte {
	return append(strconv.AppendUint(b, uint64(n), 16), '\r', '\n')
}
