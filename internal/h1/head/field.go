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

// message puts the fields of a head that was judged into the header, less the Host of a request.
func (p *Parser) message(text string, isRequest bool) (Message, error) {
	p.header.Grow(len(p.fields))
	for _, f := range p.fields {
		name, value := text[f.name:f.nameEnd], text[f.value:f.end]
		if isRequest && name == "Host" {
			p.host = value
			continue
		}
		p.header.Add(name, value)
	}
	m := Message{Header: &p.header, Minor: 1, Length: p.frame.length}
	if p.frame.http10 {
		m.Minor = 0
	}
	m.Close = p.frame.http10
	for connection := range p.header.Values("Connection") {
		if SaysClose(connection) {
			m.Close = true
			break
		}
		if p.frame.http10 && httpguts.HeaderValuesContainsToken([]string{connection}, "keep-alive") {
			m.Close = false
		}
	}
	if m.Length != Chunked {
		return m, nil
	}
	p.header.Del("Transfer-Encoding")
	return m, dropTrailer(m.Header)
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
