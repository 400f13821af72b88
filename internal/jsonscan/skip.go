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
func skip(text []byte, at, room int) (end int, odd marks) {
	var objects uint64 // a bit for each open level, the innermost last: an object, and not an array
	var own marks
	open, name := 0, false // name: one stands before, and no value
	for {
		switch c := text[at]; {
		case c == '"':
			if at, own = skipString(text, at); name && at >= 0 {
				at = skipColon(text, at)
			}
			if odd |= own; name && at >= 0 {
				name = false
				continue
			}
		case name:
			return ^at, odd
		case c != '{' && c != '[':
			at = skipScalar(text, at)
		case open == room:
			return tooDeep, odd
		case open == levels:
			at, own = skip(text, at, room-levels)
			odd |= own
		default:
			if at = blank(text, at+1); at == len(text) {
				return ^at, odd
			}
			if text[at] == c+2 { // the bracket that closes c
				at++
				break
			}
			open++
			name = c == '{'
			objects = objects<<1 | bit(name)
			continue
		}
		for ; at >= 0; at++ { // behind a value, step out of all that ends there
			if open == 0 {
				return at, odd
			}
			if at = blank(text, at); at == len(text) {
				return ^at, odd
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
			return at, odd
		case text[at] != ',':
			return ^at, odd
		}
		if at = blank(text, at+1); at == len(text) {
			return ^at, odd
		}
		name = objects&1 != 0
	}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// skipColon passes over the colon behind a name, to its value.
func skipColon(text []byte, at int) int {
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
