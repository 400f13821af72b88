package body

import "strings"

// maxDigits keeps a size below 1<<60; leading zeros count.
const maxDigits = 15

func number(text []byte) (n int64, ok bool) {
	if len(text) == 0 || len(text) > maxDigits {
		return 0, false
	}
	for _, c := range text {
		var digit byte
		switch {
		case '0' <= c && c <= '9':
			digit = c - '0'
		case 'a' <= lower(c) && lower(c) <= 'f':
			digit = lower(c) - 'a' + 10
		default:
			return 0, false
		}
		n = n<<4 | int64(digit)
	}
	return n, true
}

// Misplaced reports whether a trailer field of a request has a name by which a reader who merges
// trailers into the head would frame or route anew (RFC 9110, 6.5.1).
func Misplaced(name []byte) bool {
	for _, barred := range []string{
		"content-length", "transfer-encoding", "host", "trailer", "connection",
		"authorization", "forwarded", "via",
	} {
		if isName(name, barred) {
			return true
		}
	}
	for _, prefix := range []string{"mcp-", "x-forwarded-"} {
		if len(name) >= len(prefix) && isName(name[:len(prefix)], prefix) {
			return true
		}
	}
	return false
}

// isName tells whether two names are one to a reader who takes letters without case and the
// underscore for a hyphen, as CGI does. want is in lower case.
func isName(name []byte, want string) bool {
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

// isText tells whether text may stand in a field's value (RFC 9110, 5.5).
func isText(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
