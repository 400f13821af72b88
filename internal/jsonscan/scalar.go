package jsonscan

import "io"

// skipScalar returns where the number or literal at ends.
func skipScalar(text []byte, at int) (int, error) {
	switch c := text[at]; {
	case c == 't':
		return skipLiteral(text, at, "true")
	case c == 'f':
		return skipLiteral(text, at, "false")
	case c == 'n':
		return skipLiteral(text, at, "null")
	case kindOf(c) == '0':
		return skipNumber(text, at)
	}
	return at, SyntaxError(at)
}

func skipLiteral(text []byte, at int, literal string) (int, error) {
	for i := range len(literal) {
		if at+i == len(text) {
			return at + i, io.ErrUnexpectedEOF
		}
		if text[at+i] != literal[i] {
			return at + i, SyntaxError(at + i)
		}
	}
	return at + len(literal), nil
}

// skipNumber: the end of the text ends a number as well.
func skipNumber(text []byte, at int) (_ int, err error) {
	if text[at] == '-' {
		at++
	}
	if at < len(text) && text[at] == '0' {
		at++
	} else if at, err = skipDigits(text, at); err != nil {
		return at, err
	}
	if at < len(text) && text[at] == '.' {
		if at, err = skipDigits(text, at+1); err != nil {
			return at, err
		}
	}
	if at == len(text) || text[at]|0x20 != 'e' {
		return at, nil
	}
	at++
	if at < len(text) && (text[at] == '+' || text[at] == '-') {
		at++
	}
	return skipDigits(text, at)
}

// skipDigits passes over one digit or more.
func skipDigits(text []byte, at int) (int, error) {
	if at == len(text) {
		return at, io.ErrUnexpectedEOF
	}
	if text[at]-'0' > 9 {
		return at, SyntaxError(at)
	}
	for at < len(text) && text[at]-'0' <= 9 {
		at++
	}
	return at, nil
}
