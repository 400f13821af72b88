package framing

import (
	"bytes"
	"errors"

	"berth/internal/h1/grammar"
)

var (
	errField     = errors.New("field line is not a name, a colon and a value")
	errControl   = errors.New("control character in a value")
	errChunkSize = errors.New("chunk size is not a hexadecimal number")
	errTrailer   = errors.New("trailer field that belongs into the head")
)

// cutField splits a field line (RFC 9112 section 5). A token for a name rules out folded lines and
// blanks before the colon.
func cutField(line []byte) (name, value []byte, err error) {
	name, value, found := bytes.Cut(line, []byte(":"))
	if !found || !grammar.IsToken(name) {
		return nil, nil, errField
	}
	if !grammar.IsText(value) {
		return nil, nil, errControl
	}
	return name, bytes.Trim(value, " \t"), nil
}

// judgeTrailer refuses trailer fields that are none, and those that belong into the head (RFC 9110 section 6.5.1).
func judgeTrailer(line []byte) error {
	name, _, err := cutField(line)
	if err != nil {
		return err
	}
	if grammar.Misplaced(name) {
		return errTrailer
	}
	return nil
}

// chunkSize reads a chunk's size line (RFC 9112 section 7.1). Extensions are only kept from ending
// the line.
func chunkSize(line []byte) (int64, error) {
	digits, extension, _ := bytes.Cut(line, []byte(";"))
	size, ok := grammar.Number(digits, 16)
	if !ok {
		return 0, errChunkSize
	}
	if !grammar.IsText(extension) {
		return 0, errControl
	}
	return size, nil
}
