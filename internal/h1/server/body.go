package server

import (
	"io"
	"net"
	"time"

	"berth/internal/h1/body"
)

// mostUnread is how much of a body that its handler left is read, so that the connection can be kept.
const mostUnread = 256 << 10

// requestBody is the body of a request.
type requestBody struct {
	conn      *conn
	reader    body.Reader
	departure *departure // hears of the end; nil: nobody does
	until     time.Time  // it is to be here by then
	chunked   bool
	continues bool // the client waits to be told to send it
	ended     bool
}

// Read implements [io.Reader].
func (b *requestBody) Read(p []byte) (int, error) {
	if b.ended {
		return 0, io.EOF // the connection may be watched by now
	}
	if b.continues {
		if err := b.tellContinue(); err != nil {
			return 0, err
		}
	}
	if b.mayWait() {
		b.conn.reading.until(b.until)
	}
	n, err := b.reader.Read(p)
	if err == io.EOF {
		b.ended = true
		b.conn.in.Release()
		if b.departure != nil {
			b.departure.bodyEnded()
		}
	}
	return n, err
}

// mayWait reports whether reading goes beyond what is there.
func (b *requestBody) mayWait() bool { return b.chunked || b.conn.in.Buffered() == 0 }

// tellContinue has the client send the body.
func (b *requestBody) tellContinue() error {
	b.continues = false
	return b.conn.send(&net.Buffers{[]byte("HTTP/1.1 100 Continue\r\n\r\n")}, b.until)
}

// readOn reads what the handler has left of the body. It reports whether that was all.
func (b *requestBody) readOn() bool {
	if b.reader.Whole() {
		return true
	}
	if b.reader.Err() != nil || b.continues {
		return false
	}
	if b.until.IsZero() && b.conn.server.options.HeaderRead > 0 {
		b.until = time.Now().Add(b.conn.server.options.HeaderRead)
	}
	_, err := io.CopyN(io.Discard, b, mostUnread+1)
	return err == io.EOF
}
