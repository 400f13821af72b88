package head

import "berth/internal/h1/grammar"

// phrase is where the phrase of a status line begins.
const phrase = len("HTTP/1.1 200 ")

// statusLine is the status line that was read last. Most answers have the same.
type statusLine struct {
	text   string // "": it is not kept
	status int
	phrase string
	http10 bool
}

// read judges a status line (RFC 9112, 4). The blank before a phrase that is none may be missing.
func (s *statusLine) read(line []byte) error {
	if s.text != "" && string(line) == s.text {
		return nil
	}
	if len(line) < phrase-1 || line[phrase-5] != ' ' || len(line) >= phrase && line[phrase-1] != ' ' || !grammar.IsText(line) {
		return errStatusLine
	}
	status := 0
	for _, digit := range line[phrase-4 : phrase-1] {
		if digit < '0' || digit > '9' {
			return errStatusLine
		}
		status = 10*status + int(digit-'0')
	}
	if status < 100 {
		return errStatusLine
	}
	http10, err := version(line[:phrase-5])
	if err != nil {
		return err
	}
	text := string(line)
	*s = statusLine{status: status, phrase: text[min(phrase, len(text)):], http10: http10}
	if len(text) <= mostKept {
		s.text = text
	}
	return nil
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
