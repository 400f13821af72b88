package head

import (
	"strings"

	"berth/internal/wire"

	"golang.org/x/net/http/httpguts"
)

// field judges a field line (RFC 9112, 5), and makes its name canonical. A token for a name rules out folded lines
// and blanks before the colon.
func (p *Parser) field(b []byte, begin, end int) error {
	nameEnd := begin + canonicalize(b[begin:end])
	if nameEnd == begin || nameEnd == end || b[nameEnd] != ':' {
		return errField
	}
	value := nameEnd + 1
	for value < end && isBlank(b[value]) {
		value++
	}
	for end > value && isBlank(b[end-1]) {
		end--
	}
	if !isText(b[value:end]) {
		return errControl
	}
	p.fields = append(p.fields, field{begin, nameEnd, value, end})
	return p.frame.field(b[begin:nameEnd], b[value:end])
}

// message puts the fields of a head that was judged into the header.
func (p *Parser) message(text string) (Message, error) {
	if cap(p.values) < len(p.fields) {
		p.values = make([]string, 0, 2*len(p.fields))
	}
	for _, f := range p.fields {
		name, value := text[f.name:f.nameEnd], text[f.value:f.end]
		if others := p.header[name]; others != nil {
			p.header[name] = append(others, value)
			continue
		}
		n := len(p.values)
		p.values = append(p.values, value)
		p.header[name] = p.values[n : n+1 : n+1]
	}
	m := Message{Header: p.header, Minor: 1, Length: p.frame.length}
	if p.frame.http10 {
		m.Minor = 0
	}
	if connection := m.Header["Connection"]; connection != nil || p.frame.http10 {
		m.Close = httpguts.HeaderValuesContainsToken(connection, "close") ||
			p.frame.http10 && !httpguts.HeaderValuesContainsToken(connection, "keep-alive")
	}
	if m.Length != Chunked {
		return m, nil
	}
	delete(m.Header, "Transfer-Encoding")
	return m, dropTrailer(m.Header)
}

// dropTrailer judges the names that a chunked message announces as trailers, which are dropped.
func dropTrailer(h wire.Header) error {
	for _, list := range h["Trailer"] {
		for name := range strings.SplitSeq(list, ",") {
			switch wire.CanonicalName(strings.Trim(name, " \t")) {
			case "Transfer-Encoding", "Trailer", "Content-Length":
				return errTrailer
			}
		}
	}
	delete(h, "Trailer")
	return nil
}
