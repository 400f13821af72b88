package body

import (
	"errors"
	"math/bits"
)

// ErrTooLong says that more was written than the length that was announced.
var ErrTooLong = errors.New("http1: body longer than announced")

// LastChunk ends a chunked body.
const LastChunk = "0\r\n\r\n"

// AppendSize appends the line before a chunk of n bytes, more than none, to b. The chunk ends with CRLF.
func AppendSize(b []byte, n int) []byte {
	const digit = 4 // bits
	for left := (bits.Len(uint(n)) + digit - 1) / digit; left > 0; left-- {
		b = append(b, "0123456789abcdef"[n>>(digit*(left-1))&15])
	}
	return append(b, '\r', '\n')
}
