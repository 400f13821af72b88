package head

import (
	"strings"

	"berth/internal/h1/grammar"
	"berth/internal/wire"

	"golang.org/x/net/http/httpguts"
)

// field is where a field lies in its head.
type field struct {
	usual                     *slot // its name's; nil: the name is not usual
	name, nameEnd, value, end uint32
	recurs                    bool // the next head may be compared with the line: see repeat
}

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
	p.now.fields = append(p.now.fields, field{
		usual, uint32(begin), uint32(begin + length), uint32(begin + value), uint32(begin + end), plain && usual != nil && usual.recurs,
	})
	p.pass(usual)
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

// message puts the fields of a head that was judged into the header. Of a request's, Host is not among them.
func (p *Parser) message(m *Message, text string, request bool) (host string, err error) {
	m.Header, m.Minor, m.Length, m.Close = &p.header, 1, p.frame.length, p.frame.http10
	if p.frame.http10 {
		m.Minor = 0
	}
	judged, connection := p.now.fields, false
	fields := p.header.Spare(len(judged))
	for i := range judged {
		f := &judged[i]
		name, value := "", text[f.value:f.end]
		if f.usual != nil {
			name = f.usual.name
		} else {
			name = text[f.name:f.nameEnd]
		}
		if name == "Host" && request {
			host = value
			continue
		}
		connection = connection || name == "Connection"
		fields = append(fields, wire.Field{Name: name, Value: value, Judged: true})
	}
	p.header.Use(fields)
	if connection {
		m.Close = p.closes()
	}
	if m.Length != Chunked {
		return host, nil
	}
	p.header.Del("Transfer-Encoding")
	return host, dropTrailer(m.Header)
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
