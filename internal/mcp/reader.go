package mcp

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// reader walks data without a copy. What it hands out aliases data, but for strings with escapes.
type reader struct {
	dec    jsontext.Decoder
	source bytes.Buffer
	data   []byte
	err    error    // why data cannot be read any further; nil while it can
	plain  bool     // the last name is ASCII without an escape
	lead   int      // where the comma and the blanks before the last name begin
	names  [][]byte // of the members of all objects that are being read
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// Duplicate names are left to the caller, and so is invalid UTF-8: an escaped lone surrogate is
// legal JSON, and only an identifier made of one is refused.
var (
	allowDuplicates = jsontext.AllowDuplicateNames(true)
	allowNoUTF8     = jsontext.AllowInvalidUTF8(true)
)

func read(data []byte) *reader {
	r := readers.Get().(*reader)
	r.reset(data)
	return r
}

// release gives the reader back, with nothing of data, and no more than it needs for most.
func (r *reader) release() {
	r.reset(nil)
	if r.names = r.names[:cap(r.names)]; len(r.names) > 32 {
		r.names = nil
	}
	clear(r.names)
	readers.Put(r)
}

func (r *reader) reset(data []byte) {
	r.source = *bytes.NewBuffer(data)
	r.dec.Reset(&r.source, allowDuplicates, allowNoUTF8)
	r.data, r.err, r.names = data, nil, r.names[:0]
}

func (r *reader) kind() jsontext.Kind {
	if r.err != nil {
		return jsontext.KindInvalid
	}
	return r.dec.PeekKind()
}

func (r *reader) token() {
	if r.err == nil {
		_, r.err = r.dec.ReadToken()
	}
}

func (r *reader) value() (value jsontext.Value) {
	if r.err == nil {
		value, r.err = r.dec.ReadValue()
	}
	return value
}

func (r *reader) name() (name []byte) {
	r.lead = r.at()
	if r.kind() != '"' {
		return r.noName()
	}
	name, r.plain = unquote(r.value())
	return name
}

func (r *reader) noName() []byte {
	if r.token(); r.err == nil {
		r.err = errNotObject
	}
	return nil
}

func (r *reader) at() int { return int(r.dec.InputOffset()) }

// brace is where the next value, an object, begins. The decoder may stand before the colon.
func (r *reader) brace() int { return r.at() + bytes.IndexByte(r.data[r.at():], '{') }

func (r *reader) end() {
	if r.err != nil || r.at() == len(r.data) {
		return
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		r.err = errTrailing
	}
}

// maxMembers bounds the members of an object: the search for duplicates is quadratic, and no real
// message comes near.
const maxMembers = 512

var errTooManyMembers = errors.New("mcp: too many members in one object")

// object reads the next object. visit is called with each member's name, in order, and reads its
// value; a name that stands there twice, or differs from one of known only in case, is passed over.
// The first fault of names, or of visit, is returned at the end: what is no JSON at all is called
// that, and an id behind the name is still found.
func (r *reader) object(known []string, visit func(name []byte) error) (fault error) {
	first := len(r.names)
	r.token()
	for r.err == nil && r.kind() != '}' {
		name := r.name()
		if len(r.names)-first == maxMembers {
			fault = r.abort()
			break
		}
		err := r.check(name, first, known)
		if err == nil {
			err = visit(name)
		} else {
			r.value()
		}
		if fault == nil {
			fault = err
		}
	}
	r.names = r.names[:first]
	r.token()
	return fault
}

// abort says that there are too many members. Of the outermost object nothing more is read, any
// other is passed over: what follows may be no JSON at all.
func (r *reader) abort() error {
	if r.err == nil && r.dec.StackDepth() == 1 {
		r.err = errTooManyMembers
	}
	for r.err == nil && r.kind() != '}' {
		r.value()
	}
	return errTooManyMembers
}

// check refuses an ambiguous name, and remembers it for those that follow in the object, whose
// names begin at first.
func (r *reader) check(name []byte, first int, known []string) error {
	for _, other := range r.names[first:] {
		if bytes.Equal(other, name) {
			return ambiguousError{reasonDuplicateKey, string(name)}
		}
	}
	r.names = append(r.names, name)
	if differsInCase(name, r.plain, known) {
		return ambiguousError{reasonKeyCase, string(name)}
	}
	return nil
}

// differsInCase: only a name with letters beyond ASCII can be longer than what it folds to.
func differsInCase(name []byte, plain bool, known []string) bool {
	if slices.ContainsFunc(known, func(k string) bool { return string(name) == k }) {
		return false
	}
	for _, k := range known {
		if (len(name) == len(k) || len(name) > len(k) && !plain) && strings.EqualFold(string(name), k) {
			return true
		}
	}
	return false
}

func isPlain(s []byte) bool {
	for _, b := range s {
		if b == '\\' || b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unquote returns what is in the string value. Where that is plain, it aliases value.
func unquote(value jsontext.Value) (s []byte, plain bool) {
	if len(value) < 2 {
		return nil, false
	}
	if s = value[1 : len(value)-1]; isPlain(s) {
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

var words = map[string]string{}

func init() {
	for _, w := range slices.Concat(knownMethods, legacyVersions, []string{
		MethodTaskStatus, NotificationTask,
		"complete", "task", ResultInputRequired, "working", "completed", "failed", "cancelled", "submitted",
		versionModern,
	}) {
		words[w] = w
	}
}

// word returns b as a string, without a copy where it is one of words.
func word(b []byte) string {
	if w, ok := words[string(b)]; ok {
		return w
	}
	return string(b)
}
