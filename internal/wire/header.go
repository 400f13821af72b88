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

	// Usual is Name's number, if whoever has made the field has said so; 0: it may be any.
	Usual Usual
}

// Own is a field of berth's own words, which are fit to be written. It is made once, since the name's number is looked for.
func Own(name, value string) Field {
	return Field{Name: name, Value: value, Judged: true, Usual: UsualOf(name)}
}

// Of is a field of the same name that says something else; judged: that is fit to be written.
func (f Field) Of(value string, judged bool) Field {
	f.Value, f.Judged = value, judged
	return f
}

// Header is the fields of a head, in their order. Names are in canonical form ("Mcp-Session-Id"), here as in all that is
// asked of it, so that they are compared byte by byte. There are few: a name is looked for from the first field on, unless
// it is plain that it is not there. The zero value is empty, and a nil one can be read.
type Header struct {
	fields   []Field
	withheld []string
	marks    uint64 // of all names that the fields have, and maybe of others
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
func (h *Header) Lacks(name string) bool {
	at := h.find(name)
	return at < 0 || h.fields[at].Value == ""
}

// Has reports whether a name has a value, if only an empty one.
func (h *Header) Has(name string) bool { return h.find(name) >= 0 }

// Settles reports whether a name has a value, or is withheld.
func (h *Header) Settles(name string) bool {
	return h.find(name) >= 0 || h != nil && slices.Contains(h.withheld, name)
}

// HasNoneOf reports that no name which other has is in h. It may report false though that is so.
func (h *Header) HasNoneOf(other *Header) bool { return h.marks&other.marks == 0 }

// First returns the first value of a name, and how many it has.
func (h *Header) First(name string) (value string, n int) {
	at := h.find(name)
	if at < 0 {
		return "", 0
	}
	n = 1
	for i := at + 1; i < len(h.fields); i++ {
		if h.fields[i].Name == name {
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
		if !h.mayHave(name) {
			return
		}
		for _, f := range h.fields {
			if f.Name == name && !yield(f.Value) {
				return
			}
		}
	}
}

// markOf is one of 64, which most names of a head have for themselves, and none that is often asked for and seldom there shares with
// one that nearly always is.
func markOf(name string) uint64 {
	if name == "" {
		return 1
	}
	return 1 << ((uint8(len(name)) ^ name[0]<<2 ^ name[len(name)-1]*3) & 63)
}

// mayHave reports false only where no field has a name: nearly all that is asked for is not there.
func (h *Header) mayHave(name string) bool { return h != nil && h.marks&markOf(name) != 0 }

// find returns where a name stands first, -1 if nowhere. One loop serves all who ask, so that it is in the cache.
//
//go:noinline
func (h *Header) find(name string) int {
	if !h.mayHave(name) {
		return -1
	}
	for i := range h.fields {
		if h.fields[i].Name == name {
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
