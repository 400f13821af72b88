package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// One byte of a word, eight times.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// skipString passes over the string at a quote.
func skipString(text []byte, at int) int {
	for at++; ; {
		for at+8 <= len(text) {
			if found := special(binary.LittleEndian.Uint64(text[at:])); found != 0 {
				if at += bits.TrailingZeros64(found) / 8; text[at] == '"' {
					return at + 1
				}
				break
			}
			at += 8
		}
		for at < len(text) && text[at] >= ' ' && text[at] != '"' && text[at] != '\\' {
			at++
		}
		switch {
		case at == len(text):
			return ^at
		case text[at] == '"':
			return at + 1
		case text[at] != '\\':
			return ^at // a control character
		}
		if at = skipEscape(text, at); at < 0 {
			return at
		}
	}
}

// special marks by its highest bit the first byte of a word that is a quote, a backslash or a control character. Bytes after
// that may be marked without being one.
func special(word uint64) uint64 {
	quote, backslash := word^'"'*ones, word^'\\'*ones
	return ((word-' '*ones)&^word | (quote-ones)&^quote | (backslash-ones)&^backslash) & highs
}

// skipEscape passes over the escape at a backslash.
func skipEscape(text []byte, at int) int {
	if at++; at == len(text) {
		return ^at
	}
	switch text[at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return at + 1
	case 'u':
	default:
		return ^at
	}
	at++
	for end := at + 4; at < end; at++ {
		if at == len(text) {
			return ^at
		}
		if c := text[at]; c-'0' > 9 && (c|0x20)-'a' > 5 {
			return ^at
		}
	}
	return at
}

// IsPlain reports whether s is ASCII without a backslash, and so what a string with these bytes means.
func IsPlain(s []byte) bool {
	for ; len(s) >= 8; s = s[8:] {
		word := binary.LittleEndian.Uint64(s)
		backslash := word ^ '\\'*ones
		if (word|(backslash-ones)&^backslash)&highs != 0 {
			return false
		}
	}
	for _, c := range s {
		if c >= 0x80 || c == '\\' {
			return false
		}
	}
	return true
}
