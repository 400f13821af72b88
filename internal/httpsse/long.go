package httpsse

import (
	"bytes"
	"slices"
)

const (
	maxLong  = 64 << 20 // bytes that follow the first maxMessage of a message
	headKept = 4 << 10
	endKept  = 512
)

// long is a message of which more comes than is held.
type long struct {
	head, end []byte
	size      int // of what came; 0: there is none
}

// begin takes the first of it.
func (m *long) begin(data []byte) {
	*m = long{head: bytes.Clone(data[:min(len(data), headKept)]), end: make([]byte, 0, 2*endKept), size: 1 + len(data)}
	m.keep(data)
}

// add takes what follows. It reports false where that is too much even to be passed over.
func (m *long) add(raw []byte) bool {
	m.size += len(raw)
	m.keep(raw)
	return m.size <= maxMessage+maxLong
}

func (m *long) keep(raw []byte) {
	raw = raw[max(len(raw)-endKept, 0):]
	if over := len(m.end) + len(raw) - endKept; over > 0 {
		m.end = slices.Delete(m.end, 0, min(over, len(m.end)))
	}
	m.end = append(m.end, raw...)
}
