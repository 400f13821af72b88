package head

import (
	"bytes"

	"berth/internal/h1/grammar"
)

// same takes the known head over, with all that was found of it, if what has come is that in the same lines, but for what those say that
// may be a caller's own: these are judged as any. It reports false, and has done nothing, where something else differs.
func (p *Parser) same(come []byte) bool {
	k, at, from := p.known, p.at, uint32(0)
	if !k.isWhole || k.frame.http10 != p.frame.http10 {
		return false
	}
	var values [mostOwn]span
	for i, own := range k.own {
		before := k.text[from:k.lines[own].end]
		if !begins(come[at:], before) {
			return false
		}
		at += len(before)
		n := plainValue(come[at:])
		if n == 0 {
			return false
		}
		values[i] = span{at, at + n}
		at, from = at+n+len("\r\n"), k.lines[own].end
	}
	last := k.text[from:]
	if !begins(come[at:], last) || !ends(come[at+len(last):]) {
		return false
	}
	p.at = at + len(last) + len("\r\n")
	p.host, p.frame, p.strange = k.host, k.frame, 0
	p.takeOver(come, values[:len(k.own)])
	return true
}

// span is where something stands in a head.
type span struct{ begin, end int }

// takeOver has the header be that of the known head, with these values where they are left out there.
func (p *Parser) takeOver(head []byte, values []span) {
	k := p.known
	fields := p.header.AppendSome(&k.fields, 0, len(k.fields.Fields()))
	if len(values) == 0 {
		return
	}
	begin := values[0].begin
	text := string(head[begin:values[len(values)-1].end])
	for i, own := range k.own {
		fields[k.lines[own].field].Value = text[values[i].begin-begin : values[i].end-begin]
	}
}

// plainValue is how many bytes a value has that goes up to a line's end, without blanks around it, and is fit to be one; 0: it is no such.
func plainValue(b []byte) int {
	n := bytes.IndexByte(b, '\n') - 1
	if n < 1 || b[n] != '\r' || isBlank(b[0]) || isBlank(b[n-1]) || !grammar.IsText(b[:n]) {
		return 0
	}
	return n
}
