package mcp

import (
	"bytes"
	"errors"
	"slices"
	"sync"

	"berth/internal/jsonscan"
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
	room := rooms.Get().(*[2 * few]edit)
	defer func() {
		clear(room[:]) // the room holds on to nothing of a message
		rooms.Put(room)
	}()
	edits, err := p.edits(room[:0], data, 0)
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

// isNone reports whether it changes nothing.
func (e edit) isNone() bool { return e.from == e.to && len(e.with) == 0 }

// rooms are for edits, used again.
var rooms = sync.Pool{New: func() any { return new([2 * few]edit) }}

// few is how many members a patch names, as a rule, and how many pieces of a message change.
const few = 6

// edits appends to out what changes in the object in data, which begins at at.
func (p patch) edits(out []edit, data []byte, at int) ([]edit, error) {
	e := editor{reader: reader{Scanner: jsonscan.New(data)}, at: at, out: out}
	if e.Kind() != '{' {
		return out, errNotObject
	}
	err := e.object(p)
	if !e.End() {
		err = e.Err()
	}
	if err != nil {
		return out, err
	}
	return e.out, nil
}

// added is what stands behind the members of an object: those that are not among found.
func (p patch) added(found changes, first bool) (out []byte) {
	for i, c := range p {
		if !c.adds() || found.have(i) {
			continue
		}
		if out == nil {
			out = make([]byte, 0, len(`,"":`)+len(c.name)+len(c.value))
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(AppendString(out, c.name), ':')
		if c.within == nil {
			out = append(out, c.value...)
		} else {
			out = append(out, c.within.object()...)
		}
	}
	return out
}

func (p patch) object() []byte { return slices.Concat([]byte("{"), p.added(0, true), []byte("}")) }

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
