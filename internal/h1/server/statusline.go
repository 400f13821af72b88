package server

import (
	"strconv"

	"berth/internal/wire"
)

// statusLines are those of the statuses that are registered.
var statusLines = func() (lines [512]string) {
	for status := range lines {
		if phrase := wire.Phrase(status); phrase != "" {
			lines[status] = lineOf(status, phrase)
		}
	}
	return lines
}()

func lineOf(status int, phrase string) string {
	return "HTTP/1.1 " + strconv.Itoa(status) + " " + phrase
}

// statusLine begins a head (RFC 9112, 4).
func (a *answer) statusLine(status int) {
	a.out.borrow()
	line := ""
	if status >= 0 && status < len(statusLines) {
		line = statusLines[status]
	}
	if line == "" {
		line = lineOf(status, "")
	}
	begin := len(a.out.bytes)
	a.out.bytes = append(a.out.bytes, line...)
	if a.http10 {
		a.out.bytes[begin+len("HTTP/1.")] = '0'
	}
}
