package sse

import "bytes"

// extent is a part of a text.
type extent struct{ from, to int }

// scanPlain is scan for an event that is there whole, and is written as nearly all are. Its data has been found by that.
func (er *Reader) scanPlain() bool {
	if er.pos > er.from || er.cut {
		return false
	}
	data, length := plainEvent(er.buf[er.pos:er.to])
	er.plain = data
	er.pos += length
	return length > 0
}

// plainEvent is where the data of the first event of text is, and how long that event is: one line of data, alone or behind the type
// that a message has. 0: text begins otherwise, or ends before.
func plainEvent(text []byte) (data extent, length int) {
	rest, typed := bytes.CutPrefix(text, []byte("event: message\n"))
	if !typed {
		rest, _ = bytes.CutPrefix(text, []byte("event: message\r\n"))
	}
	rest, is := bytes.CutPrefix(rest, []byte("data: "))
	if !is {
		return extent{}, 0
	}
	data.from = len(text) - len(rest)
	data.to = data.from + lineLength(rest)
	end := lineEnd(text[data.to:])
	last := lineEnd(text[data.to+end:])
	if data.from == data.to || end == 0 || last == 0 {
		return extent{}, 0
	}
	return data, data.to + end + last
}

// lineEnd is how long the end of a line is with which text begins; 0: it begins with none, or with a return that a feed may follow.
func lineEnd(text []byte) int {
	switch {
	case len(text) > 0 && text[0] == '\n':
		return 1
	case len(text) > 1 && text[0] == '\r' && text[1] == '\n':
		return 2
	}
	return 0
}
