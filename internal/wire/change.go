package wire

import "slices"

// Add appends a field.
func (h *Header) Add(name, value string) { h.Append(Field{Name: name, Value: value}) }

// Append appends a field as it is.
func (h *Header) Append(f Field) {
	h.fields, h.marks = append(h.fields, f), h.marks|markOf(f.Name)
	if len(h.withheld) > 0 {
		h.release(f.Name)
	}
}

// AppendSome appends some of other's fields as they are, and returns them as h has them until it changes.
func (h *Header) AppendSome(other *Header, from, to int) []Field {
	some := other.fields[from:to]
	h.fields, h.marks = append(h.fields, some...), h.marks|other.marks
	if len(h.withheld) > 0 {
		for i := range some {
			h.release(some[i].Name)
		}
	}
	return h.fields[len(h.fields)-len(some):]
}

// Set replaces the values of a name by one, where the first of them stood.
func (h *Header) Set(name, value string) { h.Put(Field{Name: name, Value: value}) }

// Put replaces the fields of a name by one, where the first of them stood.
func (h *Header) Put(f Field) {
	at := h.find(f.Name)
	if at < 0 {
		h.Append(f)
		return
	}
	h.fields[at] = f
	for i := at + 1; i < len(h.fields); i++ {
		if h.fields[i].Name == f.Name {
			h.drop(i, func(other Field) bool { return other.Name == f.Name })
			return
		}
	}
}

// Supply puts a field where its name is lacking.
func (h *Header) Supply(f Field) {
	switch at := h.find(f.Name); {
	case at < 0:
		h.Append(f)
	case h.fields[at].Value == "":
		h.Put(f)
	}
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
	if h.mayHave(name) {
		h.drop(0, func(f Field) bool { return f.Name == name })
	}
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

// Spare is room for n fields, for Use: h's own, which is empty.
func (h *Header) Spare(n int) []Field { return slices.Grow(h.fields, n) }

// Use has h, which is empty, have these fields, which are some of another header's. They are its own from then on.
func (h *Header) Use(fields []Field, of *Header) {
	h.fields = fields
	if of != nil {
		h.marks = of.marks
	}
}

// Grow makes room for n more fields.
func (h *Header) Grow(n int) { h.fields = slices.Grow(h.fields, n) }

// Room is how many fields h can have without more memory.
func (h *Header) Room() int { return cap(h.fields) }

// Forget empties h, which keeps its room.
func (h *Header) Forget() {
	clear(h.fields)
	h.fields, h.withheld, h.marks = h.fields[:0], h.withheld[:0], 0
}

// Clone returns a copy that shares nothing with h, with room for what is added on the way.
func (h *Header) Clone() *Header {
	if h == nil {
		return nil
	}
	return &Header{
		fields: append(make([]Field, 0, len(h.fields)+spare), h.fields...), withheld: slices.Clone(h.withheld), marks: h.marks,
	}
}
