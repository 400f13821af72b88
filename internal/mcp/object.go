package mcp

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

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

// newDecoder reads data without copying it. Duplicate names are left to the
// caller, who looks for them only where berth reads; invalid UTF-8 inside
// strings is left to the caller too, because an escaped lone surrogate is legal
// JSON text and only an identifier made of one is refused.
func newDecoder(data []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(data),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// names remembers the member names of one object and refuses a second one.
type names []string

func (n *names) add(name string) error {
	if slices.Contains(*n, name) {
		return ambiguousError{reasonDuplicateKey, name}
	}
	*n = append(*n, name)
	return nil
}

// maxMembers bounds the members of an object that berth looks into: the search
// for duplicates is quadratic, and no real message comes near.
const maxMembers = 512

var errTooManyMembers = errors.New("mcp: too many members in one object")

// members calls visit for each member of the one object in data, in order.
// It fails on duplicate names, on names that differ from one of known only in
// case, on anything that is not JSON, and on anything after the object. It goes
// on after an ambiguous name, which it does not visit: what is no JSON at all is
// called that, and an id that stands behind the name is still found.
func members(data []byte, known []string, visit func(name string, value jsontext.Value) error) error {
	return walk(data, known, func(s span) error { return visit(s.name, data[s.from:s.to:s.to]) })
}

// span is where one member of an object stands, in bytes from the start of the data.
type span struct {
	name     string
	lead     int // where the comma and the blanks before the name begin
	from, to int // the value
}

// walk is members for those who need to know where a member stands.
func walk(data []byte, known []string, visit func(s span) error) error {
	dec := newDecoder(data)
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	var seen names
	var fault error
	for dec.PeekKind() != '}' {
		s := span{lead: int(dec.InputOffset())}
		tok, err := dec.ReadToken()
		if err != nil {
			return err
		}
		s.name = tok.String()
		if len(seen) == maxMembers {
			return errTooManyMembers
		}
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		s.to = int(dec.InputOffset())
		s.from = s.to - len(value)
		err = checkName(&seen, s.name, known)
		if err == nil {
			err = visit(s)
		}
		fault = cmp.Or(fault, err)
	}
	if !endsClean(dec) {
		return errTrailing
	}
	return fault
}

// endsClean reads the closing delimiter and expects nothing after it.
func endsClean(dec *jsontext.Decoder) bool {
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	_, err := dec.ReadToken()
	return isEOF(err)
}

// isEOF: nothing follows.
func isEOF(err error) bool { return errors.Is(err, io.EOF) }

// isCut: the data ends within a value.
func isCut(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }

func checkName(seen *names, name string, known []string) error {
	if err := seen.add(name); err != nil {
		return err
	}
	for _, k := range known {
		if name != k && strings.EqualFold(name, k) {
			return ambiguousError{reasonKeyCase, name}
		}
	}
	return nil
}

// text returns the string in value; ok is false if it holds another kind.
func text(value jsontext.Value) (s string, ok bool) {
	if value.Kind() != '"' {
		return "", false
	}
	b, _ := jsontext.AppendUnquote(nil, value)
	return string(b), true
}

// enter steps into the object that comes next and up to the value of its member
// name. It reports whether there is one.
func enter(dec *jsontext.Decoder, name string) bool {
	if dec.PeekKind() != '{' {
		return false
	}
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	for dec.PeekKind() == '"' {
		tok, err := dec.ReadToken()
		if err != nil {
			return false
		}
		if tok.String() == name {
			return true
		}
		if dec.SkipValue() != nil {
			return false
		}
	}
	return false
}
