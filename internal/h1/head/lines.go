package head

// repeat takes over known lines, with all that was found of them, that stand byte for byte where the head goes on: all that stood
// together, or as many of them as do here.
func (p *Parser) repeat(b []byte) error {
	lines := p.known.lines
	if p.next >= len(lines) || lines[p.next].run == p.next {
		return nil
	}
	come, text, from := b[p.at:], p.known.text, p.next
	begin, to := lines[from].begin, lines[from].run
	if !begins(come, text[begin:lines[to-1].end]) {
		for to = from; begins(come, text[begin:lines[to].end]); to++ { // one of them differs
		}
		if to == from {
			return nil
		}
	}
	for i := lines[from].frames; i < to; {
		l := &lines[i]
		if err := l.usual.frames(&p.frame, come[l.value-begin:l.end-2-begin]); err != nil {
			return err
		}
		if i++; i < to {
			i = lines[i].frames
		}
	}
	p.parts = append(p.parts, part{name: uint32(p.at), from: from, to: to})
	p.at += int(lines[to-1].end - begin)
	p.next, p.sought = to, max(p.sought, p.at)
	return nil
}

// begins reports whether b begins with a text.
func begins(b []byte, text string) bool { return len(b) >= len(text) && string(b[:len(text)]) == text }

// expected is usualName for a line that bears the same name as the known one that is next.
func (p *Parser) expected(line []byte) (name *slot, end int) {
	if p.next >= len(p.known.lines) {
		return nil, 0
	}
	name = p.known.lines[p.next].usual
	if len(line) <= len(name.spelt) || line[len(name.spelt)] != ':' || string(line[:len(name.spelt)]) != name.spelt {
		return nil, 0
	}
	return name, len(name.spelt)
}

// ahead is how far a name is looked for among the known lines: heads differ by a few lines, and who sends many others pays
// no more for each.
const ahead = 8

// pass goes on to the known line behind the next one of this name.
func (p *Parser) pass(usual *slot) {
	for i := p.next; i < min(p.next+ahead, len(p.known.lines)); i++ {
		if p.known.lines[i].usual == usual {
			p.next = i + 1
			return
		}
	}
}
