package mcp

import "bytes"

// Parts are a message in pieces: what is large in it is another's, and no copy.
type Parts [][]byte

// Len is how many bytes the message has.
func (p Parts) Len() int {
	n := 0
	for _, part := range p {
		n += len(part)
	}
	return n
}

// Bytes returns the message in one piece.
func (p Parts) Bytes() []byte {
	if len(p) == 1 {
		return p[0]
	}
	return bytes.Join(p, nil)
}

// Copied is up to which size, in bytes, an outcome is copied: one piece costs less than three.
const Copied = 16 << 10

// Around is the message that value stands in, between head and tail: copied where it is small, and where it is not, in pieces.
func Around(head, value, tail []byte) Parts {
	if len(value) <= Copied {
		return Parts{append(append(head, value...), tail...)}
	}
	return Parts{head, value, tail}
}
