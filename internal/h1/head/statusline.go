package head

import "berth/internal/h1/grammar"

// phrase is where the phrase of a status line begins.
const phrase = len("HTTP/1.1 200 ")

// statusLine returns the status (RFC 9112, 4). The blank before a phrase that is none may be missing.
func (p *Parser) statusLine(line []byte) (status int, err error) {
	if len(line) < phrase-1 || line[phrase-5] != ' ' || len(line) >= phrase && line[phrase-1] != ' ' || !grammar.IsText(line) {
		return 0, errStatusLine
	}
	for _, digit := range line[phrase-4 : phrase-1] {
		if digit < '0' || digit > '9' {
			return 0, errStatusLine
		}
		status = 10*status + int(digit-'0')
	}
	if status < 100 {
		return 0, errStatusLine
	}
	p.frame.http10, err = version(line[:phrase-5])
	return status, err
}

// version tells HTTP/1.0 from HTTP/1.1.
func version(text []byte) (http10 bool, err error) {
	switch string(text) {
	case "HTTP/1.1":
		return false, nil
	case "HTTP/1.0":
		return true, nil
	}
	return false, errVersion
}
