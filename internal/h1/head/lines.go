package head

// lines are the field lines of a head.
type lines struct {
	text   string // of the head; "": it is not kept
	fields []field
}

// mostKept is how long a head is at most that the next one is compared with.
const mostKept = 2 << 10

func (l *lines) keep(text string) {
	if len(text) <= mostKept {
		l.text = text
	}
}

// repeats takes the next line over from the head before, with all that was found of it, if it stands there byte for byte.
// What is a caller's own is never compared with what another one said: those fields do not recur.
func (p *Parser) repeats(b []byte) (bool, error) {
	if p.next >= len(p.last.fields) || p.last.text == "" {
		return false, nil
	}
	f := &p.last.fields[p.next]
	if !f.recurs {
		return false, nil
	}
	before := p.last.text[f.name : f.end+2]
	begin, end := p.at, p.at+len(before)
	if end > len(b) || string(b[begin:end]) != before {
		return false, nil
	}
	p.at, p.sought, p.next = end, end, p.next+1
	moved := uint32(begin) - f.name // in either direction
	p.now.fields = append(p.now.fields, field{f.usual, uint32(begin), f.nameEnd + moved, f.value + moved, f.end + moved, true})
	if f.usual.frames != nil {
		return true, f.usual.frames(&p.frame, b[f.value+moved:f.end+moved])
	}
	return true, nil
}

// pass goes on in the head before to where it goes on behind a field of this name.
func (p *Parser) pass(usual *slot) {
	for i := p.next; i < len(p.last.fields); i++ {
		if p.last.fields[i].usual == usual {
			p.next = i + 1
			return
		}
	}
}
