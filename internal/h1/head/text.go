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

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// isPath tells a target that is a path from one that names an authority.
func isPath(target string) bool { return strings.HasPrefix(target, "/") }
