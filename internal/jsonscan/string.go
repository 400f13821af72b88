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

// marks is what stands in strings that no bytes of plain ASCII are: in the place of its highest bit a byte beyond
// ASCII, and an escape.
type marks uint64

const escape marks = 1

// short is how long a string is, in bytes, that is looked at word by word.
const short = 40

// skipString passes over the string at a quote. Nearly all are plain, and most are short.
func skipString(text []byte, at int) (end int, odd marks) {
	at++
	few := text[:min(at+short, len(text))]
	for ; at <= len(few)-8; at += 8 {
		if found := special(binary.LittleEndian.Uint64(few[at:])); found != 0 {
			if at += bits.TrailingZeros64(found) / 8; few[at] == '"' {
				return at + 1, 0
			}
			break
		}
	}
	return restOfString(text, at)
}

// restOfString is skipString from within a string on, which is plain up to there.
func restOfString(text []byte, at int) (end int, odd marks) {
	for {
		at = skipPlain(text, at)
		for at <= len(text)-8 {
			word := binary.LittleEndian.Uint64(text[at:])
			if found := special(word) &^ word; found != 0 {
				odd |= marks(word & (found&-found - 1) & highs) // of the bytes before it
				at += bits.TrailingZeros64(found) / 8
				break
			}
			odd |= marks(word & highs)
			at += 8
		}
		for at < len(text) && text[at] >= ' ' && text[at] != '"' && text[at] != '\\' {
			odd |= marks(text[at]) & highs
			at++
		}
		switch {
		case at == len(text):
			return ^at, odd
		case text[at] == '"':
			return at + 1, odd
		case text[at] != '\\':
			return ^at, odd // a control character
		}
		if at = skipEscape(text, at); at < 0 {
			return at, odd
		}
		odd |= escape
	}
}

// skipPlain passes over what is plain, four words a step.
func skipPlain(text []byte, at int) int {
	for ; at <= len(text)-32; at += 32 {
		four := text[at : at+32]
		found := special(binary.LittleEndian.Uint64(four)) | special(binary.LittleEndian.Uint64(four[8:])) |
			special(binary.LittleEndian.Uint64(four[16:])) | special(binary.LittleEndian.Uint64(four[24:]))
		if found != 0 {
			break
		}
	}
	return at
}

// special marks, by its highest bit, the first byte of a word that is a quote, a backslash, a control character or beyond
// ASCII: an exclusive or makes a quote the last one of what is subtracted from control characters, and of bytes beyond ASCII
// none is marked by neither. Bytes behind it may be marked without being any of these.
func special(word uint64) (found uint64) {
	quote, backslash := (word^2*ones)-('"'-1)*ones, (word^'\\'*ones)-ones
	return (quote | backslash) & highs
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
