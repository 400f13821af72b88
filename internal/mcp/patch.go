package mcp

import (
	"bytes"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// patch says what becomes of some members of an object; all else stays byte for byte, blanks
// included.
type patch []change

type change struct {
	name   string
	value  []byte // its new value; nil removes it
	within patch  // instead of value: what becomes of the members of the object that it holds
}

// setting is the patch that gives the member at path a value.
func setting(value []byte, path ...string) patch {
	if len(path) == 1 {
		return patch{{name: path[0], value: value}}
	}
	return patch{{name: path[0], within: setting(value, path[1:]...)}}
}

func (c change) removes() bool { return c.value == nil && c.within == nil }

func (c change) adds() bool { return c.value != nil || c.within.adds() }

func (p patch) adds() bool { return slices.ContainsFunc(p, change.adds) }

func (p patch) find(name []byte) (change, bool) {
	i := slices.IndexFunc(p, func(c change) bool { return c.name == string(name) })
	if i < 0 {
		return change{}, false
	}
	return p[i], true
}

// apply patches the one object in data. It fails where members does, and with errNotObject where it
// would have to add to something else; null is as good as no member.
func (p patch) apply(data []byte) ([]byte, error) {
	parts, err := p.parts(data)
	if err != nil {
		return nil, err
	}
	return bytes.Join(parts, nil), nil
}

func (p patch) parts(data []byte) (Parts, error) {
	edits, err := p.edits(data, 0)
	return edited(data, edits), err
}

func edited(data []byte, edits []edit) Parts {
	out, done := make(Parts, 0, 2*len(edits)+1), 0
	for _, e := range edits {
		out = append(out, data[done:e.from], e.with)
		done = e.to
	}
	return append(out, data[done:])
}

// request is apply for a request. The error is an *Error.
func (p patch) request(body []byte) ([]byte, error) {
	out, err := p.apply(body)
	switch {
	case errors.Is(err, errNotObject):
		return nil, errParams("params or _meta is no object")
	case err != nil:
		return nil, refusal(err)
	}
	return out, nil
}

// tried is apply for what stays as it is where the patch cannot be applied.
func (p patch) tried(data []byte) (out []byte, done bool) {
	out, err := p.apply(data)
	if err != nil {
		return data, false
	}
	return out, true
}

type edit struct {
	from, to int
	with     []byte
}

// edits returns what changes in the object in data, which begins at at.
func (p patch) edits(data []byte, at int) ([]edit, error) {
	spans, err := p.layout(data)
	if err != nil {
		return nil, err
	}
	out := make([]edit, 0, len(p)+1)
	end, stay := jsonOpen(data), 0
	for _, s := range spans {
		end = s.to
		c, named := p.find(s.name)
		if named && c.removes() {
			out = append(out, edit{at + s.lead, at + s.to, nil})
			continue
		}
		if stay++; stay == 1 && s.lead != spans[0].lead { // no comma before what is now the first
			out = append(out, edit{at + s.lead, at + s.quote(data), data[spans[0].lead:spans[0].quote(data)]})
		}
		if !named {
			continue
		}
		inner, err := c.edits(data[s.from:s.to], at+s.from)
		if err != nil {
			return nil, err
		}
		out = append(out, inner...)
	}
	return append(out, edit{at + end, at + end, p.added(spans, stay == 0)}), nil
}

// layout returns where the members of the one object in data stand.
func (p patch) layout(data []byte) (spans []span, err error) {
	known := make([]string, len(p))
	for i, c := range p {
		known[i] = c.name
	}
	spans = make([]span, 0, 8)
	err = walk(data, known, func(s span) error {
		spans = append(spans, s)
		return nil
	})
	return spans, err
}

// quote is where the member's name begins, behind a comma and blanks.
func (s span) quote(data []byte) int { return s.lead + bytes.IndexByte(data[s.lead:], '"') }

func jsonOpen(data []byte) int { return bytes.IndexByte(data, '{') + 1 }

// edits returns what becomes of the value old, which stands at at.
func (c change) edits(old jsontext.Value, at int) ([]edit, error) {
	switch {
	case c.within == nil:
		return []edit{{at, at + len(old), c.value}}, nil
	case old.Kind() == '{':
		return c.within.edits(old, at)
	case !c.within.adds():
		return nil, nil
	case old.Kind() == 'n':
		return []edit{{at, at + len(old), c.within.object()}}, nil
	}
	return nil, errNotObject
}

// added is what stands behind the members in spans: those that are not among them.
func (p patch) added(spans []span, first bool) (out []byte) {
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
		if c.within == nil {
			out = append(out, c.value...)
		} else {
			out = append(out, c.within.object()...)
		}
	}
	return out
}

func (p patch) object() []byte { return slices.Concat([]byte("{"), p.added(nil, true), []byte("}")) }

// Parts are a message in pieces: what is large in it is another's, and no copy.
type Parts [][]byte

// Len is how many bytes the message has.
func (p Parts) Len() int {
	n := 0
	for _, part := range p {
		n += len(part)
	}
	return n
}

// Bytes returns the message in one piece.
func (p Parts) Bytes() []byte {
	if len(p) == 1 {
		return p[0]
	}
	return bytes.Join(p, nil)
}

// copied is up to which size, in bytes, an outcome is copied: one piece costs less than three.
const copied = 16 << 10

func around(head, value, tail []byte) Parts {
	if len(value) <= copied {
		return Parts{append(append(head, value...), tail...)}
	}
	return Parts{head, value, tail}
}
