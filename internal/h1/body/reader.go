package body

import (
	"errors"
	"io"
)

// ErrFraming is what errors about a body's framing wrap.
var ErrFraming = errors.New("http1: body framed wrongly")

// Source is a buffered connection, which answers as bufio.Reader does.
type Source interface {
	io.Reader
	Peek(n int) ([]byte, error)
	Discard(n int) (int, error)
	Buffered() int
}

// Reader reads a body. The zero value is an empty one. It is for one goroutine.
type Reader struct {
	src    Source
	at     place
	left   int64 // bytes still to come: of the body, or of the chunk
	budget int   // bytes that extensions, or then trailer fields, may still take
	bars   func(name []byte) bool
	err    error // for good
}

// place is what comes next from the connection.
type place uint8

const (
	end place = iota
	content
	rest // of the connection
	data // of a chunk; what comes after are lines
	sizeLine
	dataEnd // the line end after a chunk's data
	trailerLine
)

// Length makes r the body of n bytes that comes next from src.
func (r *Reader) Length(src Source, n int64) {
	*r = Reader{src: src, at: content, left: n}
	if n == 0 {
		r.at = end
	}
}

// UntilClose makes r the body that lasts as long as src.
func (r *Reader) UntilClose(src Source) { *r = Reader{src: src, at: rest} }

// Chunks makes r the chunked body that comes next from src. A trailer field whose name bars reports
// is refused; nil: none is, for its name.
func (r *Reader) Chunks(src Source, bars func(name []byte) bool) {
	*r = Reader{src: src, at: sizeLine, budget: maxExtensions, bars: bars}
}

// Whole reports whether the body was read to its end.
func (r *Reader) Whole() bool { return r.at == end && r.err == nil }

// Err is what the body has failed by; nil: by nothing so far.
func (r *Reader) Err() error { return r.err }

// Read implements [io.Reader].
func (r *Reader) Read(p []byte) (n int, err error) {
	for r.err == nil && r.at != end && (n < len(p) || r.at > data) {
		if (n > 0 || len(p) == 0) && !r.ready() {
			return n, nil
		}
		if r.at > data {
			r.err = r.line()
			continue
		}
		var m int
		m, r.err = r.take(p[n:])
		n += m
	}
	switch {
	case r.err != nil && n == 0:
		return 0, r.err
	case r.err == nil && r.at == end:
		return n, io.EOF
	}
	return n, nil
}

// ready reports whether Read goes on without waiting.
func (r *Reader) ready() bool {
	if r.at > data {
		return r.buffersLine()
	}
	return r.at == data && r.src.Buffered() > 0
}

// take reads some of the body.
func (r *Reader) take(p []byte) (int, error) {
	if r.at != rest && int64(len(p)) > r.left {
		p = p[:r.left]
	}
	n, err := r.src.Read(p)
	if r.at == rest {
		if err == io.EOF {
			r.at, err = end, nil
		}
		return n, err
	}
	if r.left -= int64(n); r.left > 0 {
		return n, unexpected(err)
	}
	if r.at == content {
		r.at = end
	} else {
		r.at = dataEnd
		r.stepOver()
	}
	return n, nil
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
