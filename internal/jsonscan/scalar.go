package jsonscan

// skipScalar passes over a number or a literal.
func skipScalar(text []byte, at int) int {
	switch kindOf(text[at]) {
	case '0':
		return skipNumber(text, at)
	case 't':
		return skipLiteral(text, at, "true")
	case 'f':
		return skipLiteral(text, at, "false")
	case 'n':
		return skipLiteral(text, at, "null")
	}
	return ^at
}

func skipLiteral(text []byte, at int, literal string) int {
	for i := range len(literal) {
		if at+i == len(text) || text[at+i] != literal[i] {
			return ^(at + i)
		}
	}
	return at + len(literal)
}

// skipNumber: the end of the text ends a number as well.
func skipNumber(text []byte, at int) int {
	if text[at] == '-' {
		at++
	}
	if at < len(text) && text[at] == '0' {
		at++
	} else if at = skipDigits(text, at); at < 0 {
		return at
	}
	if at < len(text) && text[at] == '.' {
		if at = skipDigits(text, at+1); at < 0 {
			return at
		}
	}
	if at == len(text) || text[at]|0x20 != 'e' {
		return at
	}
	at++
	if at < len(text) && (text[at] == '+' || text[at] == '-') {
		at++
	}
	return skipDigits(text, at)
}

// skipDigits passes over one digit or more.
func skipDigits(text []byte, at int) int {
	if at == len(text) || text[at]-'0' > 9 {
		return ^at
	}
	for at < len(text) && text[at]-'0' <= 9 {
		at++
	}
	return at
}
