package mcp

import (
	"errors"

	"berth/internal/jsonscan"

	"github.com/go-json-experiment/json/jsontext"
)

// reader walks an object whose names decide something, and refuses what is ambiguous. What it hands out aliases the text, but
// for names with escapes.
type reader struct {
	jsonscan.Scanner
	lead  int   // where the comma and the blanks before the last name begin
	names names // of the members of all objects that are being read

	gaps    gaps      // what differs between messages like this one
	inside  memberSet // the known members of params and _meta
	strange bool      // there were others, anywhere
}

// maxMembers bounds the members of an object: the search for duplicates is quadratic, and no real
// message comes near.
const maxMembers = 512

var errTooManyMembers = errors.New("mcp: too many members in one object")

// object is one that a reader is in, or that it has left.
type object struct {
	guarded *guarded
	seen    memberSet // of those that are known by name
	first   int       // where the names of the others begin among the reader's
	count   int       // of its members
	member  memberSet // the one whose value comes next; 0: none that is known
	fault   error     // the first of names, or what was noted
}

// note keeps the first fault. It is returned at the end: what is no JSON at all is called
// that, and an id behind the name is still found.
func (o *object) note(fault error) {
	if o.fault == nil {
		o.fault = fault
	}
}

// open enters the next object.
func (r *reader) open(g *guarded) object {
	r.Open('{')
	return object{guarded: g, first: r.names.count}
}

// next steps to the next member of o, in order, whose value has then to be read. A name that stands there twice, or
// differs from a guarded one only in case, is passed over.
func (r *reader) next(o *object) bool {
	for {
		r.lead = r.At()
		number, ok := r.Member(&memberNames)
		if !ok {
			break
		}
		if o.count == maxMembers {
			o.note(r.abort())
			break
		}
		if o.member = memberSet(number); o.member&o.guarded.set&^o.seen != 0 { // as most are
			o.seen |= o.member
			o.count++
			return true
		}
		if fault := r.judge(o); fault != nil {
			o.note(fault)
			r.Value()
			continue
		}
		return true
	}
	r.strange = r.strange || r.names.count > o.first
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

// judge returns why o's next name is ambiguous, nil if it is not, and remembers it for those that follow.
func (r *reader) judge(o *object) error {
	name, plain := nameOf(&r.Scanner)
	if o.member == 0 {
		o.member = memberOf(name)
	}
	switch {
	case o.seen&o.member != 0, o.member == 0 && r.names.haveSince(o.first, name):
		return ambiguousError{reasonDuplicateKey, string(name)}
	case o.member == 0:
		r.names.add(name)
	}
	o.seen |= o.member
	o.count++
	if o.guarded.differs(name, plain) {
		return ambiguousError{reasonKeyCase, string(name)}
	}
	return nil
}

// nameOf is the name that s stepped over last.
func nameOf(s *jsonscan.Scanner) (name []byte, plain bool) {
	quoted := s.Named()
	if s.IsPlain() {
		return quoted[1 : len(quoted)-1], true
	}
	name, _ = unquote(quoted)
	return name, false
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

// isText, isNumber and isObject are by the first byte, before which no blanks stand in what a scanner hands out.
func isText(value []byte) bool   { return len(value) > 0 && value[0] == '"' }
func isNumber(value []byte) bool { return len(value) > 0 && (value[0]-'0' <= 9 || value[0] == '-') }
func isObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }

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

// textOf returns the string in the value that s has passed over last, or like where that is the same; bad is another kind.
func textOf(s *jsonscan.Scanner, value []byte, like string) (text string, bad bool) {
	return rawText{value, s.IsPlain()}.decoded(like)
}

// known is b as a string: like, where that is the same.
func known(b []byte, like string) string {
	if string(b) == like {
		return like
	}
	return word(b)
}
