package client

import "strings"

// What a character may be part of.
const (
	inToken = 1 << iota
	inHost
	inText
	inTarget
)

var characters = func() (table [256]uint8) {
	for c := range 256 {
		if c >= ' ' && c != 0x7f {
			table[c] |= inText | inTarget
		}
	}
	table['\t'] |= inText
	letters := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	for _, c := range []byte(letters + "!#$%&'*+-.^_`|~") {
		table[c] |= inToken
	}
	for _, c := range []byte(letters + "-._~:[]") {
		table[c] |= inHost
	}
	return table
}()

func isAll(text string, what uint8) bool {
	for i := range len(text) {
		if characters[text[i]]&what == 0 {
			return false
		}
	}
	return true
}

func isToken(text string) bool { return text != "" && isAll(text, inToken) }

// isHost is for what hosts usually are; others may be one.
func isHost(text string) bool { return isAll(text, inHost) }

// isText tells whether text may stand in a field's value (RFC 9110, 5.5).
func isText(text string) bool { return isAll(text, inText) }

// isPlain tells whether text has no control characters.
func isPlain(text string) bool { return isAll(text, inTarget) }

// trim removes blanks around a value.
func trim(value string) string {
	if value == "" || value[0] > ' ' && value[len(value)-1] > ' ' {
		return value
	}
	return strings.Trim(value, " \t")
}
