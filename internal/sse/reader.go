package sse

import "io"

// Reader splits a text/event-stream into events without changing a byte. It holds one of at most as
// many bytes as NewReader was told; what is longer comes in pieces.
type Reader struct {
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

// NewReader reads events from r, of which it holds up to limit bytes.
func NewReader(r io.Reader, limit int) *Reader { return &Reader{r: r, most: limit} }

// Next returns the next event, or the piece of one. At the end of the stream it
// returns what is left, if anything, and then io.EOF; any other error is the
// reader's, and comes after what was read before it.
//
// An event whose last line ends in CRLF is returned when its CR is here. If the
// LF comes later, it is returned at once, as an Event without data: the client's
// parser may be waiting for it (sse-starlette writes CRLF, and eventsource-parser
// takes no CR for the end of a line before it sees what follows).
func (er *Reader) Next() (Event, error) {
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
func (er *Reader) Ready() bool { return er.scanned() || er.err != nil }

// scanned reports whether an event ends at pos.
func (er *Reader) scanned() bool {
	er.ready = er.ready || er.pos < er.to && (er.scanPlain() || er.scan())
	return er.ready
}

// release forgets the event handed out last, and a large buffer unless that event goes on.
func (er *Reader) release() {
	if er.from < er.to {
		return
	}
	er.from, er.pos, er.to = 0, 0, 0
	if cap(er.buf) > 4*usualBuffer && !er.cut {
		er.buf = nil
	}
}

func (er *Reader) fill() {
	if er.to == len(er.buf) {
		er.makeRoom()
	}
	n, err := er.r.Read(er.buf[er.to:])
	er.to, er.err = er.to+n, err
}

func (er *Reader) makeRoom() {
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

func (er *Reader) scan() bool {
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
func (er *Reader) swallowLF() {
	if er.cr && er.pos < er.to && er.buf[er.pos] == '\n' {
		er.pos++
		er.cr = false
	}
}

func (er *Reader) take(end int, ends bool) Event {
	raw := er.buf[er.from:end]
	event := Event{Raw: raw, Cut: !ends && !er.cut, Tail: er.cut, Ends: ends, first: !er.begun}
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

func (er *Reader) rest() Event {
	event := er.take(er.to, false)
	event.Cut = false
	return event
}
