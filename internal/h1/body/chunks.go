package body

import (
	"bytes"
	"fmt"

	"berth/internal/h1/grammar"
)

// Bounds, in bytes. A line's is less than net/http's 4 KiB, and so is that of a trailer section, which
// net/http wants to have in a buffer of that size.
const (
	maxLine       = 1 << 10
	maxExtensions = 16 << 10
	maxTrailers   = 4 << 10
)

// buffersLine reports whether the next line is there without waiting; one that is too long is.
func (r *Reader) buffersLine() bool {
	if r.src.Buffered() == 0 {
		return false
	}
	b, _ := r.src.Peek(r.src.Buffered())
	return len(b) >= maxLine || bytes.IndexByte(b, '\n') >= 0
}

// stepOver takes the end of a chunk, if it is there already as it should be.
func (r *Reader) stepOver() {
	const lineEnd = "\r\n"
	if r.src.Buffered() < len(lineEnd) {
		return
	}
	if b, _ := r.src.Peek(len(lineEnd)); string(b) == lineEnd {
		_, r.err = r.src.Discard(len(lineEnd))
		r.at = sizeLine
	}
}

// line reads the next line of what is around the data.
func (r *Reader) line() error {
	line, err := r.peekLine()
	if err != nil {
		return err
	}
	size := len(line)
	if line, err = cutEnd(line); err != nil {
		return err
	}
	switch r.at {
	case sizeLine:
		err = r.begin(line)
	case dataEnd:
		if r.at = sizeLine; len(line) > 0 {
			err = wrong("a chunk is longer than its size")
		}
	case trailerLine:
		err = r.trailer(line)
	}
	if err == nil {
		_, err = r.src.Discard(size)
	}
	return err
}

// peekLine returns the next line with its end, which stays in the buffer.
func (r *Reader) peekLine() ([]byte, error) {
	for seen := 0; ; {
		b, err := r.src.Peek(max(seen+1, min(r.src.Buffered(), maxLine)))
		if i := bytes.IndexByte(b[seen:], '\n'); i >= 0 {
			return b[:seen+i+1], nil
		}
		if err != nil {
			return nil, unexpected(err)
		}
		if seen = len(b); seen >= maxLine {
			return nil, wrong("a line is too long")
		}
		if r.at == dataEnd && seen >= 2 {
			return nil, wrong("a chunk is longer than its size")
		}
	}
}

func cutEnd(line []byte) ([]byte, error) {
	line, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok {
		return nil, wrong("line feed without carriage return")
	}
	return line, nil
}

// begin takes a chunk's size line (RFC 9112, 7.1).
func (r *Reader) begin(line []byte) error {
	digits, extension, _ := bytes.Cut(line, []byte(";"))
	size, ok := grammar.Number(digits, 16)
	if !ok {
		return wrong("a chunk's size is not a hexadecimal number")
	}
	if !grammar.IsText(extension) {
		return wrong("control character in a chunk's extension")
	}
	if r.budget -= len(line) - len(digits); r.budget < 0 {
		return wrong("too many chunk extensions")
	}
	if r.at, r.left = data, size; size == 0 {
		r.at, r.budget = trailerLine, maxTrailers
	}
	return nil
}

// trailer judges a trailer field (RFC 9112, 7.1.2), or ends the body with an empty line.
func (r *Reader) trailer(line []byte) error {
	if r.budget -= len(line) + 2; r.budget < 0 {
		return wrong("too long a trailer section")
	}
	if len(line) == 0 {
		r.at = end
		return nil
	}
	name, value, found := bytes.Cut(line, []byte(":"))
	switch {
	case !found || !grammar.IsToken(name):
		return wrong("a trailer field is not a name, a colon and a value")
	case !grammar.IsText(value):
		return wrong("control character in a trailer field")
	case r.bars != nil && r.bars(name):
		return wrong("a trailer field that belongs into the head")
	}
	return nil
}

func wrong(what string) error { return fmt.Errorf("%w: %s", ErrFraming, what) }
