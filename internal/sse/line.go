package sse

import (
	"bytes"
	"iter"
)

func field(line []byte) (name, value []byte) {
	name, value, _ = bytes.Cut(line, []byte(":"))
	return name, bytes.TrimPrefix(value, []byte(" "))
}

func lines(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(raw) > 0 {
			line, end := cutLine(raw)
			raw = raw[len(line)+len(end):]
			if !yield(line) {
				return
			}
		}
	}
}

// lineLength is how far the first line of text reaches, without what ends it.
func lineLength(text []byte) int {
	const window = 512 // lest all the text be searched for a feed after each of many returns
	for from := 0; from < len(text); from += window {
		part := text[from:min(from+window, len(text))]
		n := bytes.IndexByte(part, '\n')
		if n >= 0 {
			part = part[:n]
		}
		if cr := bytes.IndexByte(part, '\r'); cr >= 0 {
			n = cr
		}
		if n >= 0 {
			return from + n
		}
	}
	return len(text)
}

func cutLine(raw []byte) (line, end []byte) {
	n := lineLength(raw)
	if n == len(raw) {
		return raw, nil
	}
	width := 1
	if bytes.HasPrefix(raw[n:], []byte("\r\n")) {
		width = 2
	}
	return raw[:n], raw[n : n+width]
}
