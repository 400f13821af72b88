package head

import (
	"strings"

	"berth/internal/wire"
)

// part is some of a head: lines that are known, or one that is not.
type part struct {
	usual      *slot  // its name's; nil: the name is not usual
	name       uint32 // where the part begins
	nameEnd    uint32
	value, end uint32
	recurs     bool // it may be known from now on
	from, to   int  // of the known lines; to is 0: it is none of them
}

// lay puts the fields of a head into the header. Of a request's, Host is not among them.
func (p *Parser) lay(head []byte) {
	if p.isToLearn() {
		p.learn(head)
	}
	text, offset := p.unknown(head)
	for i := range p.parts {
		part := &p.parts[i]
		if part.to > 0 {
			p.known.give(&p.header, part.from, part.to)
			if part.from <= p.known.hostLine && p.known.hostLine < part.to {
				p.host = p.known.host
			}
			continue
		}
		f := wire.Field{Value: text[part.value-offset : part.end-offset], Judged: true}
		if part.usual != nil {
			f.Name, f.Usual = part.usual.name, part.usual.number
		} else {
			f.Name = text[part.name-offset : part.nameEnd-offset]
		}
		if f.Name == "Host" && p.known.ofRequest {
			p.host = f.Value
			continue
		}
		p.header.Append(f)
	}
}

// unknown is the head from its first to its last line that is not known, and where that begins.
func (p *Parser) unknown(head []byte) (text string, offset uint32) {
	end := uint32(0)
	for i := range p.parts {
		part := &p.parts[i]
		if part.to > 0 {
			continue
		}
		if end == 0 {
			offset = part.name
		}
		end = part.end
	}
	return string(head[offset:end]), offset
}

// strange is how many heads with news come one after the other before the last one is learnt. Those of callers that alternate are
// compared with what one of them says: to learn each costs more than to judge a few lines.
const strange = 4

// isToLearn reports whether heads have become others than the known one.
func (p *Parser) isToLearn() bool {
	if !p.news {
		p.strange = 0
		return false
	}
	p.strange++
	if p.strange < strange && len(p.known.lines) > 0 {
		return false
	}
	p.strange = 0
	return true
}

// learn has the lines of a head be known. They are copied, but for those that may be a caller's own: who keeps what they say keeps
// nothing of the head beside it.
func (p *Parser) learn(head []byte) {
	size, lines := p.recurring()
	if size > mostKept || lines > mostLines {
		return
	}
	before, parts, next := p.known, p.parts, p.spare
	var text strings.Builder
	text.Grow(size)
	p.parts, next.isWhole, next.frame = parts[:0], true, p.frame // there are as many parts at most
	for _, part := range parts {
		from := len(next.lines)
		switch {
		case part.to > 0:
			for _, l := range before.lines[part.from:part.to] {
				begin := part.name + l.begin - before.lines[part.from].begin
				next.add(&text, l.usual, head[begin:begin+l.end-l.begin])
			}
		case part.recurs:
			next.add(&text, part.usual, head[part.name:part.end+2])
		default:
			if part.usual != nil {
				next.addOwn(&text, part.usual)
			}
			next.isWhole = next.isWhole && part.usual != nil && !part.usual.recurs && len(next.own) <= mostOwn
			p.parts = append(p.parts, part)
			continue
		}
		p.join(from, len(next.lines))
	}
	next.complete(text.String(), p.parts)
	before.empty(before.ofRequest)
	p.known, p.spare = p.spare, p.known
}

// join adds lines to the parts that are known.
func (p *Parser) join(from, to int) {
	if last := len(p.parts) - 1; last >= 0 && p.parts[last].to > 0 && p.parts[last].to == from {
		p.parts[last].to = to
		return
	}
	p.parts = append(p.parts, part{from: from, to: to})
}

// recurring is how many bytes of the head may recur, and how many lines it has.
func (p *Parser) recurring() (size, lines int) {
	for i := range p.parts {
		part := &p.parts[i]
		lines += max(part.to-part.from, 1)
		switch {
		case part.to > 0:
			size += int(p.known.lines[part.to-1].end - p.known.lines[part.from].begin)
		case part.recurs:
			size += int(part.end+2) - int(part.name)
		case part.usual != nil:
			size += len(part.usual.spelt) + len(": ")
		}
	}
	return size, lines
}
