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

// repeat takes lines over from the head before, with all that was found of them, as long as the next one stands there byte for
// byte. What is a caller's own is never compared with what another one said: those fields do not recur.
func (p *Parser) repeat(b []byte) error {
	text, fields, at := p.last.text, p.last.fields, uint32(p.at)
	if text == "" {
		return nil
	}
	for p.next < len(fields) {
		f := &fields[p.next]
		line := text[f.name : f.end+2]
		end := int(at) + len(line)
		if !f.recurs || end > len(b) || string(b[at:end]) != line {
			break
		}
		p.next++
		moved := at - f.name // in either direction
		p.now.fields = append(p.now.fields, field{f.usual, at, f.nameEnd + moved, f.value + moved, f.end + moved, true})
		if f.usual.frames != nil {
			if err := f.usual.frames(&p.frame, b[f.value+moved:f.end+moved]); err != nil {
				return err
			}
		}
		at = uint32(end)
	}
	p.at, p.sought = int(at), max(p.sought, int(at))
	return nil
}

// expected is usualName for a line that bears the same name as the one that stands there in the head before.
func (p *Parser) expected(line []byte) (name *slot, end int) {
	if p.next >= len(p.last.fields) {
		return nil, 0
	}
	name = p.last.fields[p.next].usual
	if name == nil || len(line) <= len(name.spelt) || line[len(name.spelt)] != ':' || string(line[:len(name.spelt)]) != name.spelt {
		return nil, 0
	}
	return name, len(name.spelt)
}

// ahead is how far a name is looked for in the head before: heads differ by a few lines, and who sends many others pays
// no more for each.
const ahead = 8

// pass goes on in the head before to where it goes on behind a field of this name.
func (p *Parser) pass(usual *slot) {
	for i := p.next; i < min(p.next+ahead, len(p.last.fields)); i++ {
		if p.last.fields[i].usual == usual {
			p.next = i + 1
			return
		}
	}
}
