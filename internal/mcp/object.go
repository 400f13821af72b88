package mcp

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// ambiguousError marks JSON that is well formed but that two readers could
// understand differently.
type ambiguousError struct{ reason, name string }

func (e ambiguousError) Error() string { return fmt.Sprintf("%s: %q", e.reason, e.name) }

// Reasons of an ambiguousError, as they stand in an error's data.
const (
	reasonDuplicateKey = "duplicate_key"
	reasonKeyCase      = "key_case"
)

var (
	errTrailing  = errors.New("mcp: data after the JSON value")
	errNotObject = errors.New("mcp: not an object")
)

// members calls visit for each member of the one object in data, in order.
// It fails on duplicate names, on names that differ from one of known only in
// case, on anything that is not JSON, and on anything after the object. It goes
// on after an ambiguous name, which it does not visit (see reader.object).
func members(data []byte, known []string, visit func(name []byte, value jsontext.Value) error) error {
	return walk(data, known, func(s span) error { return visit(s.name, data[s.from:s.to:s.to]) })
}

// objectMembers is members for a value that may be something else than an object.
func objectMembers(data []byte, known []string, visit func(name []byte, value jsontext.Value) error) error {
	if jsontext.Value(data).Kind() != '{' {
		return errNotObject
	}
	return members(data, known, visit)
}

// span is where one member of an object stands, in bytes from the start of the data.
type span struct {
	name     []byte
	lead     int // where the comma and the blanks before the name begin
	from, to int // the value
}

// walk is members for those who need to know where a member stands.
func walk(data []byte, known []string, visit func(s span) error) error {
	r := read(data)
	defer r.release()
	fault := r.object(known, func(name []byte) error {
		s := span{name: name, lead: r.lead}
		value := r.value()
		if r.err != nil {
			return nil
		}
		s.to = r.at()
		s.from = s.to - len(value)
		return visit(s)
	})
	r.end()
	return cmp.Or(r.err, fault)
}
