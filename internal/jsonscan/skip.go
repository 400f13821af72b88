package jsonscan

import "io"

// levels is how many open objects and arrays one call of skip keeps: as many as a word has bits.
const levels = 64

// skip returns where the value at a byte that is no blank ends. It opens at most room objects and arrays at once.
func skip(text []byte, at, room int) (int, error) {
	var (
		objects uint64 // a bit for each open level, the innermost last: an object, and not an array
		open    int
		err     error
	)
	for {
		switch c := text[at]; {
		case c == '"':
			at, err = skipString(text, at)
		case c != '{' && c != '[':
			at, err = skipScalar(text, at)
		case open == room:
			return at, ErrDepth
		case open == levels:
			at, err = skip(text, at, room-levels)
		default:
			if at = blank(text, at+1); at == len(text) {
				return at, io.ErrUnexpectedEOF
			}
			if text[at] == c+2 { // the bracket that closes c
				at++
				break
			}
			open++
			if objects <<= 1; c == '{' {
				objects |= 1
				at, err = skipName(text, at)
			}
			if err != nil {
				return at, err
			}
			continue
		}
		if err != nil {
			return at, err
		}
		if at, open, err = afterValue(text, at, &objects, open); open == 0 || err != nil {
			return at, err
		}
	}
}

// afterValue steps from the end of a value out of all that ends there, and to the next value if anything is open still.
func afterValue(text []byte, at int, objects *uint64, open int) (int, int, error) {
	for open > 0 {
		if at = blank(text, at); at == len(text) {
			return at, open, io.ErrUnexpectedEOF
		}
		bracket := byte(']')
		if *objects&1 != 0 {
			bracket = '}'
		}
		switch text[at] {
		case bracket:
			at++
			open--
			*objects >>= 1
		case ',':
			if at = blank(text, at+1); at == len(text) {
				return at, open, io.ErrUnexpectedEOF
			}
			if bracket == ']' {
				return at, open, nil
			}
			at, err := skipName(text, at)
			return at, open, err
		default:
			return at, open, SyntaxError(at)
		}
	}
	return at, 0, nil
}

// skipName returns where the value of the member at a byte that is no blank begins.
func skipName(text []byte, at int) (int, error) {
	if text[at] != '"' {
		return at, SyntaxError(at)
	}
	at, err := skipString(text, at)
	if err != nil {
		return at, err
	}
	if at = blank(text, at); at == len(text) {
		return at, io.ErrUnexpectedEOF
	}
	if at, err = skipColon(text, at); err != nil {
		return at, err
	}
	if at == len(text) {
		return at, io.ErrUnexpectedEOF
	}
	return at, nil
}

// skipColon returns where the next byte stands that is no blank.
func skipColon(text []byte, at int) (int, error) {
	if text[at] != ':' {
		return at, SyntaxError(at)
	}
	return blank(text, at+1), nil
}

// blank returns where the blanks from at on end.
func blank(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t') {
		at++
	}
	return at
}
