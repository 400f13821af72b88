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

// apply patches the one object in data. It fails where members does, and with errNotObject where it
// would have to add to something else; null is as good as no member.
func (p patch) apply(data []byte) ([]byte, error) {
	edits, err := p.edits(make([]edit, 0, 2*few), data, 0)
	if err != nil {
		return nil, err
	}
	n := len(data)
	for _, e := range edits {
		n += len(e.with) - (e.to - e.from)
	}
	out, done := make([]byte, 0, n), 0
	for _, e := range edits {
		out = append(append(out, data[done:e.from]...), e.with...)
		done = e.to
	}
	return append(out, data[done:]...), nil
}

func (p patch) parts(data []byte) (Parts, error) {
	edits, err := p.edits(nil, data, 0)
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

// few is how many members a patch names, as a rule, and how many pieces of a message change.
const few = 6

// edits appends to out what changes in the object in data, which begins at at.
func (p patch) edits(out []edit, data []byte, at int) ([]edit, error) {
	hits := make([]hit, 0, few)
	l, err := p.layout(data, func(h hit) { hits = append(hits, h) })
	if err != nil {
		return out, err
	}
	moves := l.stay > 0 && l.stays.lead != l.first.lead
	for _, h := range hits {
		if moves && h.lead >= l.stays.lead {
			out, moves = append(out, l.begin(data, at)), false
		}
		c := &p[h.change]
		if c.removes() {
			out = append(out, edit{at + h.lead, at + h.to, nil})
			continue
		}
		if out, err = c.edits(out, data[h.from:h.to], at+h.from); err != nil {
			return out, err
		}
	}
	if moves {
		out = append(out, l.begin(data, at))
	}
	return append(out, edit{at + l.end, at + l.end, p.added(hits, l.stay == 0)}), nil
}

// quote is where the member's name begins, behind a comma and blanks.
func (s span) quote(data []byte) int { return s.lead + bytes.IndexByte(data[s.lead:], '"') }

func jsonOpen(data []byte) int { return bytes.IndexByte(data, '{') + 1 }

// edits appends to out what becomes of the value old, which stands at at.
func (c *change) edits(out []edit, old jsontext.Value, at int) ([]edit, error) {
	switch {
	case c.within == nil:
		return append(out, edit{at, at + len(old), c.value}), nil
	case old.Kind() == '{':
		return c.within.edits(out, old, at)
	case !c.within.adds():
		return out, nil
	case old.Kind() == 'n':
		return append(out, edit{at, at + len(old), c.within.object()}), nil
	}
	return out, errNotObject
}

// added is what stands behind the members of an object: those that are not among hits.
func (p patch) added(hits []hit, first bool) (out []byte) {
	for i, c := range p {
		if !c.adds() || slices.ContainsFunc(hits, func(h hit) bool { return h.change == i }) {
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
