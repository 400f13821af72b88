package server

import (
	"errors"
	"net"
	"time"

	"berth/internal/h1/body"
	"berth/internal/h1/buffer"
	"berth/internal/h1/head"
	"berth/internal/wire"
)

// errNoBody says that an answer of this status has none.
var errNoBody = errors.New("http1: an answer of this status has no body")

// framing is how an answer's end is told.
type framing uint8

const (
	undecided framing = iota
	bodiless
	sized
	chunked
	untilClose
)

// answer implements wire.Client.
type answer struct {
	conn      *conn
	question  *requestBody
	departure *departure // nil: nobody waits for it
	header    *wire.Header
	until     time.Time // what is sent is to be taken by then

	toHead  bool // the request was HEAD
	http10  bool
	closing bool // the connection ends with this answer

	status  int   // 0: none was given yet
	length  int64 // that was announced; -1: none
	given   given // header fields that are not to be made up
	framing framing
	written int64
	err     error // of the connection

	hold *hold // by whom it was asked; nil: it is over when he returns

	out    output // what is to be sent
	held   output // body that came before its framing was known
	parts  [3][]byte
	vector net.Buffers // parts, as they are sent
}

func (a *answer) begin(c *conn, asked *head.Request, question *requestBody) {
	a.conn, a.question = c, question
	a.toHead, a.http10, a.closing = asked.Method == wire.MethodHead, asked.Minor == 0, asked.Close
	a.length = -1
}

// forget lets go of what belongs to one request.
func (a *answer) forget() {
	a.header.Forget()
	a.out.release()
	a.held.release()
	*a = answer{header: a.header}
}

// Header implements wire.Client.
func (a *answer) Header() *wire.Header { return a.header }

// SetReadDeadline implements wire.Client.
func (a *answer) SetReadDeadline(t time.Time) error {
	a.question.until = t
	return nil
}

// SetWriteDeadline implements wire.Client.
func (a *answer) SetWriteDeadline(t time.Time) error {
	a.until = t
	return nil
}

// WriteHeader implements wire.Client. Informational answers may come before the one that counts; others
// after it are ignored.
func (a *answer) WriteHeader(status int) {
	if a.status != 0 {
		return
	}
	if status >= 100 && status < 200 && status != switching {
		a.inform(status)
		return
	}
	a.status = status
	a.beginHead()
}

// Write implements wire.Client.
func (a *answer) Write(b []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(wire.StatusOK)
	}
	switch {
	case len(b) == 0:
		return 0, nil
	case !allowsBody(a.status):
		return 0, errNoBody
	case a.err != nil:
		return 0, a.err
	case a.length >= 0 && a.written+int64(len(b)) > a.length:
		return 0, body.ErrTooLong
	}
	a.written += int64(len(b))
	if a.toHead {
		return len(b), nil
	}
	if a.framing == undecided {
		if (a.length < 0 || !a.question.reader.Whole()) && a.held.fits(len(b)) {
			a.held.append(b)
			return len(b), nil
		}
		a.decide(false)
	}
	if a.put(b); a.err != nil {
		return 0, a.err
	}
	return len(b), nil
}

// Flush implements wire.Client.
func (a *answer) Flush() error {
	if a.status == 0 {
		a.WriteHeader(wire.StatusOK)
	}
	if a.framing == undecided {
		a.decide(false)
	}
	a.send(nil, nil)
	return a.err
}

// finish sends what is left. It reports whether the connection can be used on.
func (a *answer) finish() (reusable bool) {
	if a.status == 0 {
		a.WriteHeader(wire.StatusOK)
	}
	if a.framing == undecided {
		a.decide(true)
	}
	if a.framing == chunked {
		a.add([]byte(body.LastChunk))
	}
	a.send(nil, nil)
	if a.err == nil {
		a.conn.unbounded.Store(false) // it is whole: whoever closes the connection now leaves it that
	}
	short := a.framing == sized && a.written != a.length
	return !a.closing && !short && a.err == nil
}

// abort sends what had been told to the client, without an end.
func (a *answer) abort() {
	if a.framing != undecided && a.framing != bodiless {
		a.send(nil, nil)
	}
	if a.framing == untilClose {
		a.conn.breakOff()
	}
}

// put adds some of the body.
func (a *answer) put(b []byte) {
	if a.framing != chunked {
		a.add(b)
		return
	}
	const sizeLine = 18 // at most
	if !a.out.fits(sizeLine) {
		a.send(nil, nil)
	}
	a.out.borrow()
	a.out.bytes = body.AppendSize(a.out.bytes, len(b))
	a.join(b, crlf)
}

var crlf = []byte("\r\n")

// add has b sent with what else is to be, now if it is much.
func (a *answer) add(b []byte) { a.join(b, nil) }

func (a *answer) join(b, tail []byte) {
	if a.out.fits(len(b) + len(tail)) {
		a.out.append(b)
		a.out.append(tail)
		return
	}
	a.send(b, tail)
}

// send sends what waits, and then these.
func (a *answer) send(b, tail []byte) {
	if a.err == nil {
		if a.err = a.sendAll(b, tail); a.err != nil && a.departure != nil {
			a.conn.cut() // the handler may take long to notice
		}
	}
	a.out.release()
}

func (a *answer) sendAll(b, tail []byte) error {
	switch {
	case len(b)+len(tail) > 0:
	case len(a.out.bytes) == 0:
		return nil
	default: // as most answers are sent
		return a.conn.write(a.out.bytes, a.until)
	}
	a.vector = a.parts[:0]
	for _, part := range [...][]byte{a.out.bytes, b, tail} {
		if len(part) > 0 {
			a.vector = append(a.vector, part)
		}
	}
	err := a.conn.send(&a.vector, a.until)
	clear(a.parts[:])
	return err
}

// output is bytes that wait to be sent.
type output struct {
	memory *buffer.Memory // nil: none is borrowed
	bytes  []byte
}

// fits reports whether n bytes more are no reason to send.
func (o *output) fits(n int) bool { return len(o.bytes)+n <= buffer.Size }

func (o *output) append(b []byte) {
	if len(b) == 0 {
		return
	}
	o.borrow()
	o.bytes = append(o.bytes, b...)
}

func (o *output) borrow() {
	if o.memory == nil {
		o.memory = buffer.Borrow()
		o.bytes = o.memory[:0]
	}
}

func (o *output) release() {
	if o.memory != nil {
		buffer.GiveBack(o.memory)
	}
	o.memory, o.bytes = nil, nil
}
