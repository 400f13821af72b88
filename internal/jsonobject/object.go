package jsonobject

import (
	"berth/internal/jsonscan"

	"github.com/go-json-experiment/json/jsontext"
)

// Each calls visit for each member of the one object in data, in order. It fails on what is no
// JSON or ambiguous: duplicate names, and names that differ from one of known only in case, which
// it does not visit.
func Each(data []byte, known []string, visit func(name []byte, value jsontext.Value) error) error {
	if jsontext.Value(data).Kind() != '{' {
		return ErrNotObject
	}
	r, g := Reader{Scanner: jsonscan.New(data)}, guard(known)
	o := r.Enter(&g)
	for r.nextOfAny(&o) {
		name, _ := NameOf(&r.Scanner)
		value := r.Value()
		if r.Err() != nil {
			break
		}
		o.Note(visit(name, value))
	}
	if !r.End() {
		return r.Err()
	}
	return o.Fault
}

// Named returns the values of these members, nil for one that is not there, and is as strict about
// them as Each.
func Named(object []byte, names ...string) ([]jsontext.Value, error) {
	return pick(object, names, names)
}

// Loose is Named for members of which it does not matter how else somebody could read them.
func Loose(object []byte, names ...string) ([]jsontext.Value, error) { return pick(object, nil, names) }

func pick(object []byte, known, names []string) ([]jsontext.Value, error) {
	values := make([]jsontext.Value, len(names))
	err := Each(object, known, func(name []byte, value jsontext.Value) error {
		for i, want := range names {
			if string(name) == want {
				values[i] = value
			}
		}
		return nil
	})
	return values, err
}

// Replace returns data with this value for the member that path leads to; every other byte stays, and all where there is none.
func Replace(data, value []byte, path ...string) []byte {
	from, to, ok := Locate(data, path...)
	if !ok {
		return data
	}
	out := make([]byte, 0, from+len(value)+len(data)-to)
	out = append(out, data[:from]...)
	out = append(out, value...)
	return append(out, data[to:]...)
}

// At returns the value that path leads to, which aliases data; nil if there is none.
func At(data []byte, path ...string) jsontext.Value {
	from, to, ok := Locate(data, path...)
	if !ok {
		return nil
	}
	return data[from:to]
}

// Locate returns where the value stands that path leads to, if there is one.
func Locate(data []byte, path ...string) (from, to int, ok bool) {
	s := jsonscan.New(data)
	for _, want := range path {
		if !enter(&s, want) {
			return 0, 0, false
		}
	}
	value := s.Value()
	return s.At() - len(value), s.At(), s.Err() == nil
}

// enter steps up to the value of the next object's member of that name, if it has one.
func enter(s *jsonscan.Scanner, name string) bool {
	if s.Kind() != '{' || !s.Open('{') {
		return false
	}
	for {
		quoted, ok := s.Name()
		if !ok {
			return false
		}
		if own, _ := Unquote(quoted); string(own) == name {
			return true
		}
		s.Value()
	}
}
