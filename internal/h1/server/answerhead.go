package server

import (
	"strconv"
	"time"

	"berth/internal/h1/grammar"
	"berth/internal/h1/head"
	"berth/internal/wire"
)

// Statuses of which the framing depends.
const (
	switching   = 101
	notModified = 304
)

func allowsBody(status int) bool {
	return status >= 200 && status != wire.StatusNoContent && status != notModified
}

// given are fields that the handler has set, or withholds.
type given struct{ date, length, connection bool }

// beginHead has all of the head sent that does not depend on the body. Its lines are ended by what follows.
func (a *answer) beginHead() {
	a.statusLine(a.status)
	fields, saysType := a.header.Fields(), a.status != notModified
	for i := range fields {
		f := &fields[i]
		if begins := asTheyAre[f.Usual]; begins != "" && f.Judged && saysType {
			a.out.bytes = append(append(a.out.bytes, begins...), f.Value...)
		} else if a.noteField(f) {
			a.pass(f)
		}
	}
	for _, name := range a.header.Withheld() {
		a.given.date = a.given.date || name == "Date"
		a.given.length = a.given.length || name == "Content-Length"
	}
}

// asTheyAre is what stands before the value of a field with which there is nothing to do but to send it, but for the type that a
// status has none of; "": there may be.
var asTheyAre = func() (table [256]string) {
	for number, name := range wire.UsualNames() {
		switch name {
		case "Date", "Content-Length", "Transfer-Encoding", "Connection":
		default:
			table[number] = "\r\n" + name + ": "
		}
	}
	return table
}()

// noteField takes note of a field that says what is the server's to say as a rule, and reports whether it is to be sent.
func (a *answer) noteField(f *wire.Field) (sent bool) {
	switch f.Name {
	case "Date":
		a.given.date = true
	case "Content-Length":
		a.announce(f.Value)
		return false
	case "Transfer-Encoding":
		return false
	case "Connection":
		a.given.connection = true
		closes := a.endsConnection()
		a.closing = a.closing || closes
		return !closes
	case "Content-Type":
		return a.status != notModified
	}
	return true
}

// endsConnection reports whether the handler says that the connection ends.
func (a *answer) endsConnection() bool {
	for connection := range a.header.Values("Connection") {
		if head.SaysClose(connection) {
			return true
		}
	}
	return false
}

// announce takes the length that the handler says the body has: the first one that is a number.
func (a *answer) announce(length string) {
	if a.given.length {
		return
	}
	if n, err := strconv.ParseUint(length, 10, 63); err == nil {
		a.length, a.given.length = int64(n), true
	}
}

// decide completes the head: how the body ends is known by now. ended: all of it was written.
func (a *answer) decide(ended bool) {
	if !a.closing && !a.question.readOn() {
		a.closing = true
	}
	a.question.continues = false // what follows is the answer
	if a.conn.server.closing.Load() {
		a.closing = true
	}
	if ended && a.length < 0 && !a.given.length && (!a.toHead || a.written > 0) {
		a.length = a.written
	}
	switch {
	case !allowsBody(a.status):
		a.framing = bodiless
		a.closing = a.closing || a.status == switching
	case a.toHead:
		a.framing = bodiless
		a.lengthField()
	case a.length >= 0:
		a.framing = sized
		a.lengthField()
	case a.http10:
		a.framing, a.closing = untilClose, true
		a.conn.unbounded.Store(true)
	default:
		a.framing = chunked
		a.own("\r\nTransfer-Encoding: chunked")
	}
	a.ownFields()
	a.own("\r\n\r\n")
	if len(a.held.bytes) > 0 {
		a.put(a.held.bytes)
		a.held.release()
	}
}

func (a *answer) lengthField() {
	if a.length < 0 {
		return
	}
	a.out.bytes = strconv.AppendInt(append(a.out.bytes, "\r\nContent-Length: "...), a.length, 10)
}

// ownFields are those that the server says of itself.
func (a *answer) ownFields() {
	if !a.given.date {
		a.own(dateOf(time.Now()))
	}
	switch {
	case a.closing && !a.http10:
		a.own("\r\nConnection: close")
	case !a.closing && a.http10 && !a.given.connection:
		a.own("\r\nConnection: keep-alive")
	}
}

// own adds words of the server's own.
func (a *answer) own(line string) { a.out.bytes = append(a.out.bytes, line...) }

// inform sends an informational answer at once (RFC 9110, 15.2).
func (a *answer) inform(status int) {
	if a.http10 {
		return
	}
	if status == 100 {
		a.question.continues = false
	}
	a.statusLine(status)
	for _, f := range a.header.Fields() {
		if f.Name != "Content-Length" && f.Name != "Transfer-Encoding" {
			a.pass(&f)
		}
	}
	a.own("\r\n\r\n")
	a.send(nil, nil)
}

func (a *answer) pass(f *wire.Field) {
	switch {
	case f.Judged:
		a.out.bytes = append(append(append(append(a.out.bytes, "\r\n"...), f.Name...), ": "...), f.Value...)
	case grammar.IsToken(f.Name):
		a.field(f.Name, f.Value)
	}
}

// field adds one field, whose value cannot end it.
func (a *answer) field(name, value string) {
	out := append(append(append(a.out.bytes, "\r\n"...), name...), ": "...)
	begin := len(out)
	value = wire.Trim(value)
	out = append(out, value...)
	if !grammar.IsText(value) {
		for i, c := range out[begin:] {
			if c == '\r' || c == '\n' || c == 0 {
				out[begin+i] = ' '
			}
		}
	}
	a.out.bytes = out
}
