package mcp

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// patch says what becomes of some members of an object. What it does not speak of
// stays byte for byte, blanks included.
type patch []change

// change is what becomes of one member. A member that is not there is added at the
// end, if there is something to add.
type change struct {
	name   string
	value  []byte // its new value; nil removes it
	within patch  // instead of value: what becomes of the members of the object that it holds
}

// apply returns the one object in data with the patch applied. It fails where members
// fails on an object that the patch speaks of, and with errNotObject where it would
// have to add to something else; null is as good as no member.
func (p patch) apply(data []byte) ([]byte, error) {
	return p.appendTo(make([]byte, 0, len(data)+p.room()), data)
}

// room is how much longer the patch can make an object.
func (p patch) room() int {
	n := 0
	for _, c := range p {
		n += len(`,"":{}`) + len(c.name) + len(c.value) + c.within.room()
	}
	return n
}

func (p patch) adds() bool {
	return slices.ContainsFunc(p, change.adds)
}

func (p patch) find(name string) (change, bool) {
	i := slices.IndexFunc(p, func(c change) bool { return c.name == name })
	if i < 0 {
		return change{}, false
	}
	return p[i], true
}

func (p patch) layout(data []byte) (spans []span, err error) {
	if jsontext.Value(data).Kind() != '{' {
		return nil, errNotObject
	}
	known := make([]string, len(p))
	for i, c := range p {
		known[i] = c.name
	}
	err = walk(data, known, func(s span) error {
		spans = append(spans, s)
		return nil
	})
	return spans, err
}

func jsonOpen(data []byte) int { return bytes.IndexByte(data, '{') + 1 }

// cut returns the comma and the blanks before a member, and its name up to the value.
func (s span) cut(data []byte) (lead, name []byte) {
	start := s.lead + bytes.IndexByte(data[s.lead:], '"')
	return data[s.lead:start], data[start:s.from]
}

func (p patch) appendTo(out, data []byte) ([]byte, error) {
	spans, err := p.layout(data)
	if err != nil {
		return nil, err
	}
	open := jsonOpen(data)
	out = append(out, data[:open]...)
	end, stay := open, 0
	for _, s := range spans {
		end = s.to
		c, named := p.find(string(s.name))
		if named && c.removes() {
			continue
		}
		lead, name := s.cut(data)
		if stay++; stay == 1 { // no comma before what is now the first
			lead, _ = spans[0].cut(data)
		}
		out = append(append(out, lead...), name...)
		if !named {
			out = append(out, data[s.from:s.to]...)
			continue
		}
		if out, err = c.appendValue(out, data[s.from:s.to]); err != nil {
			return nil, err
		}
	}
	if out, err = p.appendNew(out, spans, stay == 0); err != nil {
		return nil, err
	}
	return append(out, data[end:]...), nil
}

// appendNew adds the members that are not among spans.
func (p patch) appendNew(out []byte, spans []span, first bool) ([]byte, error) {
	for _, c := range p {
		if !c.adds() || slices.ContainsFunc(spans, func(s span) bool { return string(s.name) == c.name }) {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out, _ = jsontext.AppendQuote(out, c.name)
		out = append(out, ':')
		var err error
		if out, err = c.appendValue(out, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c change) removes() bool { return c.value == nil && c.within == nil }

func (c change) adds() bool { return c.value != nil || c.within.adds() }

// appendValue appends what becomes of the value old, nil if there is none.
func (c change) appendValue(out, old []byte) ([]byte, error) {
	kind := jsontext.Value(old).Kind()
	switch {
	case c.within == nil:
		return append(out, c.value...), nil
	case kind == '{':
		return c.within.appendTo(out, old)
	case !c.within.adds():
		return append(out, old...), nil
	case old == nil, kind == 'n':
		return c.within.appendTo(out, []byte("{}"))
	}
	return nil, errNotObject
}
