package wire

import (
	"maps"
	"slices"
)

// FromLists is a header as others have it: by name, with a nil list for what is withheld. Names are in canonical form, and
// come to stand in their order.
func FromLists(lists map[string][]string) *Header {
	h := new(Header)
	if len(lists) > 0 {
		h.Grow(len(lists) + spare)
	}
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		values := lists[name]
		if len(values) == 0 {
			h.Withhold(name)
		}
		for _, value := range values {
			h.Add(name, value)
		}
	}
	return h
}

// Lists is what FromLists reads.
func (h *Header) Lists() map[string][]string {
	fields := h.Fields()
	lists, values := make(map[string][]string, len(fields)), make([]string, len(fields))
	for i, f := range fields {
		if before := lists[f.Name]; before != nil {
			lists[f.Name] = append(before, f.Value)
			continue
		}
		values[i] = f.Value
		lists[f.Name] = values[i : i+1 : i+1] // what is added to one is not added to the next
	}
	for _, name := range h.Withheld() {
		lists[name] = nil
	}
	return lists
}
