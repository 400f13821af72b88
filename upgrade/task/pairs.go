package task

import (
	"encoding/json"
	"maps"
	"slices"

	"berth/internal/jsonobject"
)

// Pairs are names of headers and their values, in turn: a list, for a map of lists is made, copied and gone through for
// several times its price, and a call has its headers in three places on its way. Names are in canonical form; each
// may come several times. In the store they are an object of lists.
type Pairs []string

// has reports whether a name is among them.
func (p Pairs) has(name string) bool {
	for i := 0; i < len(p); i += 2 {
		if p[i] == name {
			return true
		}
	}
	return false
}

// Get returns the first value of a name, "" if it has none.
func (p Pairs) Get(name string) string {
	for i := 0; i < len(p); i += 2 {
		if p[i] == name {
			return p[i+1]
		}
	}
	return ""
}

// size is how many bytes they are.
func (p Pairs) size() (n int) {
	for _, text := range p {
		n += len(text)
	}
	return n
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Pairs) UnmarshalJSON(data []byte) error {
	var lists map[string][]string
	if err := json.Unmarshal(data, &lists); err != nil {
		return err
	}
	*p = nil
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		for _, value := range lists[name] {
			*p = append(*p, name, value)
		}
	}
	return nil
}

// pairs writes them as a member. Whatever the order of its names, an object says the same.
func (w *writer) pairs(name string, p Pairs) {
	w.open(name)
	for i := 0; i < len(p); i += 2 {
		if !p[:i].has(p[i]) {
			w.quotedName(p[i])
			w.values(p[i:], p[i])
		}
	}
	*w = append(*w, '}')
}

// values writes those of a name.
func (w *writer) values(p Pairs, name string) {
	*w = append(*w, '[')
	for i := 0; i < len(p); i += 2 {
		if p[i] != name {
			continue
		}
		if i > 0 {
			*w = append(*w, ',')
		}
		*w = jsonobject.AppendString(*w, p[i+1])
	}
	*w = append(*w, ']')
}
