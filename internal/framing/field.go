package framing

import (
	"bytes"
	"errors"
	"strings"
)

var (
	errField     = errors.New("field line is not a name, a colon and a value")
	errControl   = errors.New("control character in a value")
	errChunkSize = errors.New("chunk size is not a hexadecimal number")
	errTrailer   = errors.New("trailer field that belongs into the head")
)

// maxDigits keeps a number below 1<<60 in any base used here; leading zeros count.
const maxDigits = 15

// cutField splits a field line (RFC 9112 section 5). A token for a name rules out folded lines and
// blanks before the colon.
func cutField(line []byte) (name, value []byte, err error) {
	name, value, found := bytes.Cut(line, []byte(":"))
	if !found || !isToken(name) {
		return nil, nil, errField
	}
	if !isText(value) {
		return nil, nil, errControl
	}
	return name, bytes.Trim(value, " \t"), nil
}

// judgeTrailer refuses trailer fields by which a reader who merges them into the head would frame
// or route anew (RFC 9110 section 6.5.1).
func judgeTrailer(line []byte) error {
	name, _, err := cutField(line)
	if err != nil {
		return err
	}
	for _, barred := range []string{
		"content-length", "transfer-encoding", "host", "trailer", "connection",
		"authorization", "forwarded", "via",
	} {
		if sameName(name, barred) {
			return errTrailer
		}
	}
	for _, prefix := range []string{"mcp-", "x-forwarded-"} {
		if len(name) >= len(prefix) && sameName(name[:len(prefix)], prefix) {
			return errTrailer
		}
	}
	return nil
}

// chunkSize reads a chunk's size line (RFC 9112 section 7.1). Extensions are only kept from ending
// the line.
func chunkSize(line []byte) (int64, error) {
	digits, extension, _ := bytes.Cut(line, []byte(";"))
	size, ok := number(digits, 16)
	if !ok {
		return 0, errChunkSize
	}
	if !isText(extension) {
		return 0, errControl
	}
	return size, nil
}

func number(text []byte, base int64) (n int64, ok bool) {
	if len(text) == 0 || len(text) > maxDigits {
		return 0, false
	}
	for _, c := range text {
		digit := int64(strings.IndexByte("0123456789abcdef", lower(c)))
		if digit < 0 || digit >= base {
			return 0, false
		}
		n = n*base + digit
	}
	return n, true
}

// sameName tells whether two names are one to a reader who takes letters without case and the
// underscore for a hyphen, as CGI does. want is in lower case.
func sameName(name []byte, want string) bool {
	if len(name) != len(want) {
		return false
	}
	for i, c := range name {
		if c = lower(c); c != want[i] && (c != '_' || want[i] != '-') {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func isToken(text []byte) bool {
	for _, c := range text {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-':
		case strings.IndexByte("!#$%&'*+.^_`|~", c) < 0:
			return false
		}
	}
	return len(text) > 0
}

// isVisible: elsewhere in Latin-1 there are characters that some readers of a request line take for
// blanks.
func isVisible(text []byte) bool {
	for _, c := range text {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return len(text) > 0
}

// isText tells whether text may stand in a field's value (RFC 9110 section 5.5).
func isText(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
