package wire

import (
	"iter"
	"net/textproto"
	"slices"
	"strings"
)

// Field is a line of a header.
type Field struct {
	Name, Value string

	// Judged says that Name was found to be a token, and Value text without blanks around it (RFC 9110, 5.1, 5.5): who
	// writes the field need not look.
	Judged bool
}

// Header is the fields of a head, in their order. Names are in canonical form ("Mcp-Session-Id"), here as in all that is
// asked of it, so that they are compared byte by byte. There are few: a name is looked for from the first field on. The
// zero value is empty, and a nil one can be read.
type Header struct {
	fields   []Field
	withheld []string
}

// NewHeader returns a header of these names and values, in turn.
func NewHeader(pairs ...string) *Header {
	h := &Header{fields: make([]Field, 0, len(pairs)/2+spare)}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

// spare is how many fields berth adds on the way, at most as a rule.
const spare = 6

// Fields are all fields, which belong to h: who reads them changes neither them nor h meanwhile.
func (h *Header) Fields() []Field {
	if h == nil {
		return nil
	}
	return h.fields
}

// Get returns the first value of a name, "" if it has none.
func (h *Header) Get(name string) string {
	if at := h.find(name); at >= 0 {
		return h.fields[at].Value
	}
	return ""
}

// Lacks reports whether a name is not there, or its first value is empty.
func (h *Header) Lacks(name string) bool { return h.Get(name) == "" }

// Has reports whether a name has a value, if only an empty one.
func (h *Header) Has(name string) bool { return h.find(name) >= 0 }

// Settles reports whether a name has a value, or is withheld.
func (h *Header) Settles(name string) bool {
	return h.find(name) >= 0 || h != nil && slices.Contains(h.withheld, name)
}

// First returns the first value of a name, and how many it has.
func (h *Header) First(name string) (value string, n int) {
	at := h.find(name)
	if at < 0 {
		return "", 0
	}
	n = 1
	for _, f := range h.fields[at+1:] {
		if f.Name == name {
			n++
		}
	}
	return h.fields[at].Value, n
}

// Join returns the values of a name as one, with a separator between.
func (h *Header) Join(name, separator string) string {
	value, n := h.First(name)
	if n < 2 {
		return value
	}
	return strings.Join(slices.Collect(h.Values(name)), separator)
}

// Values are those of a name, in their order.
func (h *Header) Values(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, f := range h.Fields() {
			if f.Name == name && !yield(f.Value) {
				return
			}
		}
	}
}

// Add appends a field.
func (h *Header) Add(name, value string) {
	h.Append(Field{Name: name, Value: value})
}

// Append appends a field as it is.
func (h *Header) Append(f Field) {
	h.fields = append(h.fields, f)
	if len(h.withheld) > 0 {
		h.release(f.Name)
	}
}

// Set replaces the values of a name by one, where the first of them stood.
func (h *Header) Set(name, value string) {
	at := h.find(name)
	if at < 0 {
		h.Add(name, value)
		return
	}
	h.fields[at] = Field{Name: name, Value: value}
	h.drop(at+1, func(f Field) bool { return f.Name == name })
}

// Take replaces the values of a name by those that other has.
func (h *Header) Take(name string, other *Header) {
	h.Del(name)
	for value := range other.Values(name) {
		h.Add(name, value)
	}
}

// Del removes a name.
func (h *Header) Del(name string) {
	h.drop(0, func(f Field) bool { return f.Name == name })
	h.release(name)
}

// Drop removes the fields that are to go.
func (h *Header) Drop(goes func(f Field) bool) { h.drop(0, goes) }

// drop is Drop from a field on.
func (h *Header) drop(from int, goes func(f Field) bool) {
	kept := from
	for i, f := range h.fields[from:] {
		if goes(f) {
			continue
		}
		if kept < from+i {
			h.fields[kept] = f
		}
		kept++
	}
	clear(h.fields[kept:])
	h.fields = h.fields[:kept]
}

// Withhold removes a name, and says, of an answer, that whoever sends it must not make up a value.
func (h *Header) Withhold(name string) {
	h.Del(name)
	h.withheld = append(h.withheld, name)
}

// Withheld are the names that are. They belong to h.
func (h *Header) Withheld() []string {
	if h == nil {
		return nil
	}
	return h.withheld
}

func (h *Header) release(name string) {
	if len(h.withheld) > 0 {
		h.withheld = slices.DeleteFunc(h.withheld, func(other string) bool { return other == name })
	}
}

// Grow makes room for n more fields.
func (h *Header) Grow(n int) { h.fields = slices.Grow(h.fields, n) }

// Room is how many fields h can have without more memory.
func (h *Header) Room() int { return cap(h.fields) }

// Forget empties h, which keeps its room.
func (h *Header) Forget() {
	clear(h.fields)
	h.fields, h.withheld = h.fields[:0], h.withheld[:0]
}

// Clone returns a copy that shares nothing with h, with room for what is added on the way.
func (h *Header) Clone() *Header {
	if h == nil {
		return nil
	}
	return &Header{fields: append(make([]Field, 0, len(h.fields)+spare), h.fields...), withheld: slices.Clone(h.withheld)}
}

// find returns where a name stands first, -1 if nowhere. One loop serves all who ask, so that it is in the cache.
//
//go:noinline
func (h *Header) find(name string) int {
	for i, f := range h.Fields() {
		if f.Name == name {
			return i
		}
	}
	return -1
}

// Trim returns a value without blanks around it.
func Trim(value string) string {
	if value == "" || value[0] > ' ' && value[len(value)-1] > ' ' {
		return value
	}
	return strings.Trim(value, " \t")
}

// CanonicalName is how a header spells a name.
func CanonicalName(name string) string { return textproto.CanonicalMIMEHeaderKey(name) }
