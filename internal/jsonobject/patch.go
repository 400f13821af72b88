package jsonobject

import (
	"slices"
	"sync"

	"berth/internal/jsonscan"
)

// Patch says what becomes of some members of an object; all else stays byte for byte, blanks
// included.
type Patch []Change

// Change says what becomes of the member of a name.
type Change struct {
	Name   string
	Value  []byte // its new value; nil removes it
	Within Patch  // instead of Value: what becomes of the members of the object that it holds
}

// Setting is the patch that gives the member at path a value.
func Setting(value []byte, path ...string) Patch {
	if len(path) == 1 {
		return Patch{{Name: path[0], Value: value}}
	}
	return Patch{{Name: path[0], Within: Setting(value, path[1:]...)}}
}

func (c Change) removes() bool { return c.Value == nil && c.Within == nil }

func (c Change) adds() bool { return c.Value != nil || c.Within.adds() }

func (p Patch) adds() bool { return slices.ContainsFunc(p, Change.adds) }

// Apply patches the one object in data. It fails where Each does, and with ErrNotObject where it
// would have to add to something else; null is as good as no member.
func (p Patch) Apply(data []byte) ([]byte, error) {
	room := rooms.Get().(*[2 * few]Edit)
	defer func() {
		clear(room[:]) // the room holds on to nothing of a message
		rooms.Put(room)
	}()
	edits, err := p.Edits(room[:0], data, 0)
	if err != nil {
		return nil, err
	}
	n := len(data)
	for _, e := range edits {
		n += len(e.With) - (e.To - e.From)
	}
	out, done := make([]byte, 0, n), 0
	for _, e := range edits {
		out = append(append(out, data[done:e.From]...), e.With...)
		done = e.To
	}
	return append(out, data[done:]...), nil
}

// Pieces is Apply without a copy: what stays is a part of data.
func (p Patch) Pieces(data []byte) ([][]byte, error) {
	edits, err := p.Edits(nil, data, 0)
	return Edited(data, edits), err
}

// Edited returns what edits, which are in order, make of data, in pieces.
func Edited(data []byte, edits []Edit) [][]byte {
	out, done := make([][]byte, 0, 2*len(edits)+1), 0
	for _, e := range edits {
		out = append(out, data[done:e.From], e.With)
		done = e.To
	}
	return append(out, data[done:])
}

// Tried is Apply for what stays as it is where the patch cannot be applied.
func (p Patch) Tried(data []byte) (out []byte, done bool) {
	out, err := p.Apply(data)
	if err != nil {
		return data, false
	}
	return out, true
}

// Edit puts other bytes in place of some.
type Edit struct {
	From, To int
	With     []byte
}

// IsNone reports whether it changes nothing.
func (e Edit) IsNone() bool { return e.From == e.To && len(e.With) == 0 }

// rooms are for edits, used again.
var rooms = sync.Pool{New: func() any { return new([2 * few]Edit) }}

// few is how many members a patch names, as a rule, and how many pieces of a message change.
const few = 6

// Edits appends to out what changes in the object in data, which begins at at.
func (p Patch) Edits(out []Edit, data []byte, at int) ([]Edit, error) {
	e := editor{Reader: Reader{Scanner: jsonscan.New(data)}, at: at, out: out}
	if e.Kind() != '{' {
		return out, ErrNotObject
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
func (p Patch) added(found changes, first bool) (out []byte) {
	for i, c := range p {
		if !c.adds() || found.have(i) {
			continue
		}
		if out == nil {
			out = make([]byte, 0, len(`,"":`)+len(c.Name)+len(c.Value))
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(AppendString(out, c.Name), ':')
		if c.Within == nil {
			out = append(out, c.Value...)
		} else {
			out = append(out, c.Within.Object()...)
		}
	}
	return out
}

// Object is what p adds, as an object of its own.
func (p Patch) Object() []byte { return slices.Concat([]byte("{"), p.added(0, true), []byte("}")) }
