package mcp

import (
	"bytes"
	"io"
	"iter"
	"strconv"
	"time"
)

// Event is one event of a text/event-stream (WHATWG HTML, "Server-sent events"), or a piece of a
// long one. Its slices are valid until the next call of Next.
type Event struct {
	Raw  []byte // the bytes as they came, with the empty line that ends the event; or an LF that came late (see Next)
	Data []byte // the data lines of a message, joined by newlines; nil if there is none
	Cut  bool   // Raw is only the beginning of the event: Data holds what came so far
	Tail bool   // Raw continues an event that was cut; Data is nil
	Ends bool   // Raw ends with the empty line that ends an event
}

// EventReader splits a text/event-stream into events without changing a byte. It holds one of at
// most MaxPeek bytes; what is longer comes in pieces.
type EventReader struct {
	r    io.Reader
	most int // bytes of one event that are held
	buf  []byte
	from int   // start of what was not handed out
	pos  int   // how far buf was scanned
	to   int   // end of what was read
	err  error // what ended the stream; comes after what was read before

	line  int          // bytes in the line being scanned
	plain extent       // of the data of the event that ends at pos, from its start on; empty: it is to be looked for
	ready bool         // an event ends at pos
	cr    bool         // the last byte was CR: an LF that follows belongs to it
	cut   bool         // the event being scanned was cut
	begun bool         // the beginning of the stream was handed out
	rests bool         // memory is given back between events
	lent  *eventBuffer // that buf is; nil: buf is the reader's own
}

// What is held of a stream that says nothing: first, and once more than that has come at a time.
const (
	firstBuffer = 1 << 10
	usualBuffer = 4 << 10
)

// NewEventReader reads events from r.
func NewEventReader(r io.Reader) *EventReader { return &EventReader{r: r, most: MaxPeek} }

// NewLongEventReader reads events from r of which it holds up to limit bytes.
func NewLongEventReader(r io.Reader, limit int) *EventReader { return &EventReader{r: r, most: limit} }

// Next returns the next event, or the piece of one. At the end of the stream it
// returns what is left, if anything, and then io.EOF; any other error is the
// reader's, and comes after what was read before it.
//
// An event whose last line ends in CRLF is returned when its CR is here. If the
// LF comes later, it is returned at once, as an Event without data: the client's
// parser may be waiting for it (sse-starlette writes CRLF, and eventsource-parser
// takes no CR for the end of a line before it sees what follows).
func (er *EventReader) Next() (Event, error) {
	er.release()
	for {
		switch {
		case er.scanned():
			return er.take(er.pos, true), nil
		case er.to-er.from >= er.most, er.cut && er.to > er.from:
			return er.take(er.to, false), nil
		case er.err != nil && er.to > er.from:
			return er.rest(), nil
		case er.err != nil:
			return Event{}, er.err
		}
		er.fill()
	}
}

// Ready reports whether Next returns at once, from what was read before.
func (er *EventReader) Ready() bool { return er.scanned() || er.err != nil }

// scanned reports whether an event ends at pos.
func (er *EventReader) scanned() bool {
	er.ready = er.ready || er.pos < er.to && (er.scanPlain() || er.scan())
	return er.ready
}

// release forgets the event handed out last, and a large buffer unless that event goes on.
func (er *EventReader) release() {
	if er.from < er.to {
		return
	}
	er.from, er.pos, er.to = 0, 0, 0
	if cap(er.buf) > 4*usualBuffer && !er.cut {
		er.buf = nil
	}
}

func (er *EventReader) fill() {
	if er.to == len(er.buf) {
		er.makeRoom()
	}
	n, err := er.r.Read(er.buf[er.to:])
	er.to, er.err = er.to+n, err
}

func (er *EventReader) makeRoom() {
	if er.buf == nil && er.rests {
		er.borrow()
		return
	}
	rest, buf := er.buf[er.from:er.to], er.buf
	if er.from == 0 || len(buf) < usualBuffer {
		buf = make([]byte, max(firstBuffer, min(4*len(buf), usualBuffer), 2*len(buf)))
	}
	copy(buf, rest)
	if len(buf) > len(er.buf) {
		er.giveBack()
	}
	er.buf, er.to, er.pos, er.from = buf, len(rest), er.pos-er.from, 0
}

func (er *EventReader) scan() bool {
	for er.pos < er.to {
		if n := lineLength(er.buf[er.pos:er.to]); n > 0 {
			er.pos += n
			er.line += n
			er.cr = false
			continue
		}
		b := er.buf[er.pos]
		er.pos++
		if b == '\n' && er.cr {
			er.cr = false
			if er.pos-1 == er.from && !er.cut {
				return true // the event that it ends was handed out before
			}
			continue
		}
		er.cr = b == '\r'
		if er.line == 0 {
			er.swallowLF()
			return true
		}
		er.line = 0
	}
	return false
}

// swallowLF keeps the LF of a CRLF with its event if it is here already. Waiting for it could hold
// an event back for ever.
func (er *EventReader) swallowLF() {
	if er.cr && er.pos < er.to && er.buf[er.pos] == '\n' {
		er.pos++
		er.cr = false
	}
}

func (er *EventReader) take(end int, ends bool) Event {
	raw := er.buf[er.from:end]
	event := Event{Raw: raw, Cut: !ends && !er.cut, Tail: er.cut, Ends: ends}
	switch at := er.plain; {
	case er.cut:
	case at.to > 0:
		event.Data = raw[at.from:at.to:at.to]
	case er.begun:
		event.Data = eventData(raw)
	default:
		event.Data = eventData(unmarked(raw))
	}
	er.plain = extent{}
	er.from, er.cut, er.begun, er.ready = end, !ends, true, false
	return event
}

func (er *EventReader) rest() Event {
	event := er.take(er.to, false)
	event.Cut = false
	return event
}

// ID returns the id of the event, from which a client would resume; "" if it has none.
func (e Event) ID() string {
	id := ""
	for line := range lines(e.Raw) {
		if name, value := field(line); string(name) == "id" && !bytes.ContainsRune(value, 0) {
			id = string(value)
		}
	}
	return id
}

// Retry returns how long a client is to wait before it resumes, if the event says so; else 0.
func (e Event) Retry() (wait time.Duration) {
	for line := range lines(e.Raw) {
		name, value := field(line)
		if ms, err := strconv.ParseUint(string(value), 10, 31); string(name) == "retry" && err == nil {
			wait = time.Duration(ms) * time.Millisecond
		}
	}
	return wait
}

func field(line []byte) (name, value []byte) {
	name, value, _ = bytes.Cut(line, []byte(":"))
	return name, bytes.TrimPrefix(value, []byte(" "))
}

// DataOf returns the data of an event of another type than "message", such as "endpoint"
// (2024-11-05, transports, "HTTP with SSE"); nil if the event is not of that type or has none.
func (e Event) DataOf(kind string) []byte {
	data, is := typedData(unmarked(e.Raw))
	if string(is) != kind {
		return nil
	}
	return data
}

// unmarked is how a stream begins without a byte order mark, which is no part of it.
func unmarked(raw []byte) []byte { return bytes.TrimPrefix(raw, []byte("\ufeff")) }

// eventData joins the data of an event. Those of other types than "message" carry no messages.
func eventData(raw []byte) []byte {
	data, kind := typedData(raw)
	if len(kind) > 0 && string(kind) != "message" {
		return nil
	}
	return data
}

func typedData(raw []byte) (data, kind []byte) {
	fields := 0
	for line := range lines(raw) {
		name, value := field(line)
		switch string(name) {
		case "event":
			kind = value
		case "data":
			if fields == 0 {
				data = value[:len(value):len(value)] // appending must not write into raw
			} else {
				data = append(append(data, '\n'), value...)
			}
			fields++
		}
	}
	if len(data) == 0 {
		data = nil
	}
	return data, kind
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

// WithData returns an event with other data, not empty; every other byte stays. One without data
// stays as it is.
func WithData(raw, data []byte) []byte { return rewriteEvent(raw, data, "") }

// rewriteEvent returns an event with data, unless that is nil, and with tag before its id.
func rewriteEvent(raw, data []byte, tag string) []byte {
	written := false
	out := make([]byte, 0, len(raw)+len(data)+len(tag)+16)
	for len(raw) > 0 {
		line, end := cutLine(raw)
		raw = raw[len(line)+len(end):]
		named, value := field(line)
		switch name := string(named); {
		case name == "id" && tag != "" && len(value) > 0 && len(end) > 0:
			out = append(append(append(append(out, "id: "...), tag...), value...), end...)
		case name == "data" && written: // it stands in the first one
		case name == "data" && data != nil:
			written = true
			begin := []byte("data: ")
			if bytes.HasPrefix(line, []byte("data:")) && !bytes.HasPrefix(line, begin) && !bytes.HasPrefix(data, []byte(" ")) {
				begin = begin[:len("data:")] // as its server writes it
			}
			for part := range bytes.SplitSeq(data, []byte("\n")) {
				out = append(append(append(out, begin...), part...), end...)
			}
		default:
			out = append(append(out, line...), end...)
		}
	}
	return out
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
