package head

import (
	"strings"

	"berth/internal/h1/grammar"
	"berth/internal/wire"

	"golang.org/x/net/http/httpguts"
)

// field judges a field line (RFC 9112, 5), which begins at a byte of the head, and makes its name canonical. A token for a
// name rules out folded lines and blanks before the colon.
func (p *Parser) field(line []byte, begin int) error {
	usual, length := p.expected(line)
	if usual == nil {
		usual, length = usualName(line)
	}
	if usual == nil {
		length = canonicalize(line)
		if length == 0 || length == len(line) || line[length] != ':' {
			return errField
		}
	}
	value, end := length+1, len(line)
	plain := end-value >= 2 && line[value] == ' ' && !isBlank(line[value+1]) && !isBlank(line[end-1])
	if plain {
		value++ // nearly all are written so
	} else {
		value, end = trim(line, value)
	}
	if !grammar.IsText(line[value:end]) {
		return errControl
	}
	recurs := plain && usual != nil && usual.recurs
	p.parts = append(p.parts, part{
		usual: usual, name: uint32(begin), nameEnd: uint32(begin + length), value: uint32(begin + value), end: uint32(begin + end), recurs: recurs,
	})
	p.news = p.news || recurs
	if usual != nil {
		p.pass(usual)
	}
	switch {
	case usual == nil:
		return p.frame.unusual(line[:length], line[value:end])
	case usual.frames != nil:
		return usual.frames(&p.frame, line[value:end])
	}
	return nil
}

// trim leaves out the blanks around a value, which begins somewhere in a line.
func trim(line []byte, begin int) (value, end int) {
	value, end = begin, len(line)
	for value < end && isBlank(line[value]) {
		value++
	}
	for end > value && isBlank(line[end-1]) {
		end--
	}
	return value, end
}

// message says what a head that was laid says as a whole.
func (p *Parser) message(m *Message) error {
	m.Header, m.Minor, m.Length, m.Close = &p.header, 1, p.frame.length, p.frame.http10
	if p.frame.http10 {
		m.Minor = 0
	}
	if p.header.Has("Connection") {
		m.Close = p.closes()
	}
	if m.Length != Chunked {
		return nil
	}
	p.header.Del("Transfer-Encoding")
	return dropTrailer(m.Header)
}

// closes reports whether the connection ends with the message, of which it says something.
func (p *Parser) closes() bool {
	closes := p.frame.http10
	for connection := range p.header.Values("Connection") {
		if SaysClose(connection) {
			return true
		}
		if p.frame.http10 && httpguts.HeaderValuesContainsToken([]string{connection}, "keep-alive") {
			closes = false
		}
	}
	return closes
}

// SaysClose reports whether one of the words of Connection is close. Blanks part words as commas do: who leaves a comma out
// has the connection closed rather than kept.
func SaysClose(connection string) bool {
	for word := range strings.FieldsFuncSeq(connection, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		if strings.EqualFold(word, "close") {
			return true
		}
	}
	return false
}

// dropTrailer judges the names that a chunked message announces as trailers, which are dropped.
func dropTrailer(h *wire.Header) error {
	for list := range h.Values("Trailer") {
		for name := range strings.SplitSeq(list, ",") {
			switch wire.CanonicalName(strings.Trim(name, " \t")) {
			case "Transfer-Encoding", "Trailer", "Content-Length":
				return errTrailer
			}
		}
	}
	h.Del("Trailer")
	return nil
}
