package jsonscan

import (
	"io"
	"math"
)

// What passes over something returns where that ends or, below 0, a fault: ^p for one at p, which is a cut where p is the
// end of the text, and tooDeep.
const tooDeep = math.MinInt

func faultOf(end int, text []byte) error {
	switch {
	case end == tooDeep:
		return ErrDepth
	case ^end == len(text):
		return io.ErrUnexpectedEOF
	}
	return SyntaxError(^end)
}

// levels is how many open objects and arrays one call of skip keeps: as many as a word has bits.
const levels = 64

// skip passes over the value at a byte that is no blank. It opens at most room objects and arrays at once.
func skip(text []byte, at, room int) int {
	var objects uint64 // a bit for each open level, the innermost last: an object, and not an array
	open := 0
	for {
		switch c := text[at]; {
		case c == '"':
			at = skipString(text, at)
		case c != '{' && c != '[':
			at = skipScalar(text, at)
		case open == room:
			return tooDeep
		case open == levels:
			at = skip(text, at, room-levels)
		default:
			if at = blank(text, at+1); at == len(text) {
				return ^at
			}
			if text[at] == c+2 { // the bracket that closes c
				at++
				break
			}
			open++
			objects <<= 1
			if c == '[' {
				continue
			}
			objects |= 1
			if at = skipName(text, at); at < 0 {
				return at
			}
			continue
		}
		for ; at >= 0; at++ { // behind a value, step out of all that ends there
			if open == 0 {
				return at
			}
			if at = blank(text, at); at == len(text) {
				return ^at
			}
			bracket := ']' | byte(objects&1)<<5 // or '}'
			if text[at] != bracket {
				break
			}
			open--
			objects >>= 1
		}
		switch {
		case at < 0:
			return at
		case text[at] != ',':
			return ^at
		}
		if at = blank(text, at+1); at == len(text) {
			return ^at
		}
		if objects&1 != 0 {
			if at = skipName(text, at); at < 0 {
				return at
			}
		}
	}
}

// skipName passes over the name at a byte that is no blank, and the colon behind it, to its value.
func skipName(text []byte, at int) int {
	if text[at] != '"' {
		return ^at
	}
	if at = skipString(text, at); at < 0 {
		return at
	}
	if at = blank(text, at); at == len(text) || text[at] != ':' {
		return ^at
	}
	if at = blank(text, at+1); at == len(text) {
		return ^at
	}
	return at
}

// blank returns where the blanks from at on end.
func blank(text []byte, at int) int {
	if at < len(text) && text[at] > ' ' {
		return at
	}
	return endOfBlanks(text, at)
}

func endOfBlanks(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t') {
		at++
	}
	return at
}
