package head

import "strings"

// canonical says what a letter of a name is after the beginning or a hyphen, and what elsewhere. 0: it is not
// of a token.
var canonical = func() (table [2][256]byte) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789") {
		table[0][c], table[1][c] = c, c
	}
	for c := byte('a'); c <= 'z'; c++ {
		upper := c - 'a' + 'A'
		table[0][c], table[1][c] = upper, c
		table[0][upper], table[1][upper] = upper, c
	}
	return table
}()

// canonicalize makes the token at the beginning of line canonical, as net/textproto spells it, and returns its length.
func canonicalize(line []byte) int {
	within := 0
	for i, c := range line {
		spelt := canonical[within][c]
		if spelt == 0 {
			return i
		}
		line[i] = spelt
		if within = 1; c == '-' {
			within = 0
		}
	}
	return len(line)
}

func isToken(text []byte) bool {
	for _, c := range text {
		if canonical[0][c] == 0 {
			return false
		}
	}
	return len(text) > 0
}

// isName tells whether two names are one to a reader who takes letters without case and the underscore for a
// hyphen, as CGI does. want is in lower case.
func isName(name []byte, want string) bool {
	if len(name) != len(want) {
		return false
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != want[i] && (c != '_' || want[i] != '-') {
			return false
		}
	}
	return true
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

// isText tells whether text may stand in a field's value (RFC 9110, 5.5).
func isText(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// isPath tells a target that is a path from one that names an authority.
func isPath(target string) bool { return strings.HasPrefix(target, "/") }
