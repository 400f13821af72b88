package mcp

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Parts are a message in pieces, one after the other: what is large in it is another's, and
// no copy.
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
	return slices.Concat(p...)
}

// copied is the size, in bytes, up to which an outcome is copied into the message that bears
// it: one piece costs less than three.
const copied = 16 << 10

// around returns a message with value, of which head and tail are before and after it.
func around(head, value, tail []byte) Parts {
	if len(value) <= copied {
		return Parts{append(append(head, value...), tail...)}
	}
	return Parts{head, value, tail}
}

// spliced returns the one object in data with the change made, which must add something. It
// fails as patch.apply does.
func (c change) spliced(data []byte) (Parts, error) {
	spans, err := patch{c}.layout(data)
	if err != nil {
		return nil, err
	}
	end := jsonOpen(data)
	for _, s := range spans {
		if string(s.name) == c.name {
			value, err := c.splicedValue(data[s.from:s.to])
			return slices.Concat(Parts{data[:s.from]}, value, Parts{data[s.to:]}), err
		}
		end = s.to
	}
	added, err := patch{c}.appendNew(nil, nil, len(spans) == 0)
	return Parts{data[:end], added, data[end:]}, err
}

// splicedValue is what becomes of the value old.
func (c change) splicedValue(old []byte) (Parts, error) {
	if len(c.within) == 1 && jsontext.Value(old).Kind() == '{' {
		return c.within[0].spliced(old)
	}
	value, err := c.appendValue(nil, old)
	return Parts{value}, err
}
