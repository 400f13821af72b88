package mcp

import "encoding/binary"

// isPrintable reports whether s is printable ASCII, as nearly all of what is held against a rule is. It looks at eight bytes at
// a time, of which one tells by its highest bit that it is none: as it is, a blank less or one more. Bytes above one that was
// found may be wrong.
func isPrintable(s string) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	left := []byte(s)
	for ; len(left) >= 8; left = left[8:] {
		if word := binary.LittleEndian.Uint64(left); (word|(word-' '*ones)|(word+ones))&highs != 0 {
			return false
		}
	}
	for _, c := range left {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
