package head

import (
	"bytes"

	"berth/internal/h1/grammar"
)

// requestLine returns where the method and the target end (RFC 9112, 3).
func (p *Parser) requestLine(line []byte) (method, target int, err error) {
	method = bytes.IndexByte(line, ' ')
	if method <= 0 || !grammar.IsToken(line[:method]) {
		return 0, 0, errRequestLine
	}
	length := bytes.IndexByte(line[method+1:], ' ')
	if length <= 0 {
		return 0, 0, errRequestLine
	}
	target = method + 1 + length
	version := line[target+1:]
	if !grammar.IsVisible(line[method+1:target]) || !grammar.IsVisible(version) {
		return 0, 0, errRequestLine
	}
	return method, target, p.version(version)
}

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
	return status, p.version(line[:phrase-5])
}

func (p *Parser) version(text []byte) error {
	switch string(text) {
	case "HTTP/1.1":
	case "HTTP/1.0":
		p.frame.http10 = true
	default:
		return errVersion
	}
	return nil
}
