package mcp

import (
	"errors"
	"slices"
	"strings"

	"berth/internal/jsonscan"

	"github.com/go-json-experiment/json/jsontext"
)

// reader walks an object whose names decide something, and refuses what is ambiguous. What it hands out aliases the text, but
// for names with escapes.
type reader struct {
	jsonscan.Scanner
	lead  int   // where the comma and the blanks before the last name begin
	names names // of the members of all objects that are being read
}

// maxMembers bounds the members of an object: the search for duplicates is quadratic, and no real
// message comes near.
const maxMembers = 512

var errTooManyMembers = errors.New("mcp: too many members in one object")

// object is one that a reader is in, or that it has left.
type object struct {
	known []string // names from which no other may differ only in case
	first int      // where its names begin among the reader's
	name  []byte   // of the member whose value comes next
	fault error    // the first of names, or what was noted
}

// note keeps the first fault. It is returned at the end: what is no JSON at all is called
// that, and an id behind the name is still found.
func (o *object) note(fault error) {
	if o.fault == nil {
		o.fault = fault
	}
}

// open enters the next object.
func (r *reader) open(known []string) object {
	r.Open('{')
	return object{known: known, first: r.names.count}
}

// next steps to the next member of o, in order, whose value has then to be read. A name that stands there twice, or
// differs from a known one only in case, is passed over.
func (r *reader) next(o *object) bool {
	for {
		r.lead = r.At()
		quoted, ok := r.Name()
		if !ok {
			break
		}
		if r.names.count-o.first == maxMembers {
			o.note(r.abort())
			break
		}
		name, plain := unquote(quoted)
		fault := r.check(name, plain, o)
		if fault == nil {
			o.name = name
			return true
		}
		o.note(fault)
		r.Value()
	}
	r.names.count = o.first
	return false
}

// abort says that there are too many members. Of the outermost object nothing more is read, any
// other is passed over: what follows may be no JSON at all.
func (r *reader) abort() error {
	if r.Depth() == 1 {
		r.Fail(errTooManyMembers)
	}
	for ok := true; ok; _, ok = r.Name() {
		r.Value()
	}
	return errTooManyMembers
}

// check refuses an ambiguous name, and remembers it for those that follow in the object.
func (r *reader) check(name []byte, plain bool, o *object) error {
	if r.names.haveSince(o.first, name) {
		return ambiguousError{reasonDuplicateKey, string(name)}
	}
	r.names.add(name)
	if differsInCase(name, plain, o.known) {
		return ambiguousError{reasonKeyCase, string(name)}
	}
	return nil
}

// differsInCase: only a name with letters beyond ASCII can be longer than what it folds to.
func differsInCase(name []byte, plain bool, known []string) bool {
	differs := false
	for _, k := range known {
		switch {
		case string(name) == k:
			return false
		case len(name) < len(k), plain && (len(name) > len(k) || name[0]|' ' != k[0]|' '):
		case strings.EqualFold(string(name), k):
			differs = true
		}
	}
	return differs
}

// unquote returns what is in the string value. Where that is plain, it aliases value.
func unquote(value jsontext.Value) (s []byte, plain bool) {
	if len(value) < 2 {
		return nil, false
	}
	if s = value[1 : len(value)-1]; jsonscan.IsPlain(s) {
		return s, true
	}
	s, _ = jsontext.AppendUnquote(nil, value) // no UTF-8 is read as U+FFFD
	return s, false
}

func isString(value jsontext.Value, s string) bool {
	b, _ := unquote(value)
	return value.Kind() == '"' && string(b) == s
}

func text(value jsontext.Value) (s string, ok bool) {
	if value.Kind() != '"' {
		return "", false
	}
	b, _ := unquote(value)
	return string(b), true
}

// words are strings that stand in most messages, by their length.
var words [64][]string

func init() {
	for _, w := range slices.Concat(knownMethods, legacyVersions, []string{
		MethodTaskStatus, NotificationTask,
		"complete", "task", ResultInputRequired, "working", "completed", "failed", "cancelled", "submitted",
		versionModern,
	}) {
		words[len(w)] = append(words[len(w)], w)
	}
}

// word returns b as a string, without a copy where it is one of words.
func word(b []byte) string {
	if len(b) < len(words) {
		for _, w := range words[len(b)] {
			if string(b) == w {
				return w
			}
		}
	}
	return string(b)
}
