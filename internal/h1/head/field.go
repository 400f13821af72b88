package head

import (
	"strings"

	"berth/internal/h1/grammar"
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
	if !grammar.IsText(b[value:end]) {
		return errControl
	}
	p.fields = append(p.fields, field{uint32(begin), uint32(nameEnd), uint32(value), uint32(end)})
	return p.frame.field(b[begin:nameEnd], b[value:end])
}

// message puts the fields of a head that was judged into the header.
func (p *Parser) message(text string) (Message, error) {
	if cap(p.values) < len(p.fields) {
		p.values = make([]string, 0, 2*len(p.fields))
	}
	repeated := false // a name was, so that each is looked for from then on
	for n, f := range p.fields {
		name, value, different := text[f.name:f.nameEnd], text[f.value:f.end], len(p.header)
		p.values = append(p.values, value)
		if repeated {
			if others := p.header[name]; others != nil {
				p.header[name] = append(others, value)
				continue
			}
		}
		p.header[name] = p.values[n : n+1 : n+1]
		if !repeated && len(p.header) == different {
			repeated = true
			p.header[name] = p.all(text, name, n)
		}
	}
	m := Message{Header: p.header, Minor: 1, Length: p.frame.length}
	if p.frame.http10 {
		m.Minor = 0
	}
	if connection := m.Header["Connection"]; connection != nil || p.frame.http10 {
		m.Close = SaysClose(connection) ||
			p.frame.http10 && !httpguts.HeaderValuesContainsToken(connection, "keep-alive")
	}
	if m.Length != Chunked {
		return m, nil
	}
	delete(m.Header, "Transfer-Encoding")
	return m, dropTrailer(m.Header)
}

// SaysClose reports whether one of the words of Connection is close. Blanks part words as commas do: who leaves a comma out
// has the connection closed rather than kept.
func SaysClose(connection []string) bool {
	for _, value := range connection {
		for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
			if strings.EqualFold(word, "close") {
				return true
			}
		}
	}
	return false
}

// all are the values of a name up to the nth field.
func (p *Parser) all(text, name string, nth int) (values []string) {
	for n, f := range p.fields[:nth+1] {
		if text[f.name:f.nameEnd] == name {
			values = append(values, p.values[n])
		}
	}
	return values
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
