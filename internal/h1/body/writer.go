package body

import (
	"errors"
	"io"
	"strconv"
)

var (
	// ErrTooLong says that more was written than the length that was announced.
	ErrTooLong = errors.New("http1: body longer than announced")
	// ErrTooShort says that a body ended before its length.
	ErrTooShort = errors.New("http1: body shorter than announced")
)

// LastChunk ends a chunked body.
const LastChunk = "0\r\n\r\n"

// AppendSize appends the line before a chunk of n bytes, more than none, to b. The chunk ends with CRLF.
func AppendSize(b []byte, n int) []byte {
	return append(strconv.AppendUint(b, uint64(n), 16), '\r', '\n')
}

// Writer writes a body. The zero value is an empty one.
type Writer struct {
	dst     io.Writer
	chunked bool
	left    int64
	line    [18]byte // a chunk's size
}

// Length makes w a body of n bytes, written to dst.
func (w *Writer) Length(dst io.Writer, n int64) { *w = Writer{dst: dst, left: n} }

// Chunks makes w a chunked body, written to dst, which should have a buffer: of each chunk,
// line, data and end are written one by one.
func (w *Writer) Chunks(dst io.Writer) { *w = Writer{dst: dst, chunked: true} }

// Write implements [io.Writer]. What goes beyond the length is ErrTooLong; what comes before is
// written.
func (w *Writer) Write(p []byte) (n int, err error) {
	if !w.chunked {
		return w.part(p)
	}
	if len(p) == 0 { // it would be the last chunk
		return 0, nil
	}
	if _, err = w.dst.Write(AppendSize(w.line[:0], len(p))); err != nil {
		return 0, err
	}
	if n, err = w.dst.Write(p); err != nil {
		return n, err
	}
	_, err = io.WriteString(w.dst, "\r\n")
	return n, err
}

func (w *Writer) part(p []byte) (n int, err error) {
	most := int(min(int64(len(p)), w.left))
	if most > 0 {
		n, err = w.dst.Write(p[:most])
		w.left -= int64(n)
	}
	if err == nil && most < len(p) {
		err = ErrTooLong
	}
	return n, err
}

// Close ends the body. One that has not its length by then is ErrTooShort.
func (w *Writer) Close() error {
	if w.chunked {
		_, err := io.WriteString(w.dst, LastChunk)
		return err
	}
	if w.left > 0 {
		return ErrTooShort
	}
	return nil
}
