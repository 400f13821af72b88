package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// seeds are texts on the borders of the language.
var seeds = []string{
	``, ` `, `{}`, `[]`, `{"a":1}`, `{"a":1,}`, `[1,]`, `[,1]`, `{,}`, `{"a" 1}`, `{"a":}`, `{1:2}`, `[1 2]`, `[1:2]`, `{"a":1]`, `[1}`,
	`"`, `"\`, `"\u`, `"\u00`, `"\u00g0"`, `"\ud800"`, `"\x"`, "\"\x1f\"", "\"\x7f\x80\xff\"", `"1234567"`, `"12345678"`, `"1234567\"9"`, "\"1234567\n\"",
	`"` + strings.Repeat("x", 40) + `\\"`, `0`, `-`, `-0`, `01`, `1.`, `1.5`, `.5`, `1e`, `1e+`, `1E-07`, `+1`, `1x`, `-x`,
	`t`, `tru`, `true`, `trux`, `nul`, `null`, `nulll`, `false`, `False`, ` { "a" : [ 1 , { } , [ ] , "x" ] , "b" : null } `, `{}{}`, `{} ,`, "\ufeff{}",
	"{\"a\":1,\f\"b\":2}", "\v1", `{"a":{"b":{"c":[[[]]]}},"a":2}`, strings.Repeat(`[`, 70) + strings.Repeat(`]`, 70),
	`{"id":1,"name":{"taskId":[],"task":2},"statusMessage":3,"notifications":4,"name" :5, "id":6,"na\u006de":7,"protocol/version":8}`, `{"id":`, `{"id":1`,
	strings.Repeat(`[{"x":`, 70) + `1` + strings.Repeat(`}]`, 70), strings.Repeat(`[{"x":`, 70) + `1` + strings.Repeat(`]}`, 70),
}

// FuzzScanner holds the scanner against jsontext's decoder: on the same bytes, opening and passing over the same values,
// both read the same, come to stand at the same places, and end alike.
func FuzzScanner(f *testing.F) {
	for _, text := range seeds {
		f.Add([]byte(text), uint64(0))
		f.Add([]byte(text), ^uint64(0))
		f.Add([]byte(text), uint64(0x5a5a5a5a5a5a5a5a))
	}
	f.Fuzz(func(t *testing.T, text []byte, choices uint64) {
		s := New(text)
		w := walker{t: t, s: &s, dec: jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), choices: choices}
		w.value()
		if !w.over && s.End() != w.ends() {
			t.Fatalf("%q: the scanner's end is %v, the decoder's %v", text, s.End(), !s.End())
		}
	})
}

// FuzzValue holds the scanner against encoding/json, which knows of no UTF-8 that is wrong.
func FuzzValue(f *testing.F) {
	for _, text := range seeds {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := New(text)
		value := s.Value()
		if got, want := s.End(), json.Valid(text); got != want {
			t.Fatalf("%q: valid %v, encoding/json says %v: %v", text, got, want, s.Err())
		} else if want && !bytes.Equal(value, bytes.Trim(text, " \t\r\n")) {
			t.Fatalf("%q: the value is %q", text, value)
		}
		if want := !strings.ContainsFunc(string(text), func(c rune) bool { return c == '\\' || c >= utf8.RuneSelf }); IsPlain(text) != want {
			t.Fatalf("%q: plain is %v", text, !want)
		}
	})
}

// walker leads both readers through a text.
type walker struct {
	t       *testing.T
	s       *Scanner
	dec     *jsontext.Decoder
	choices uint64 // a bit for each value: opened, and not passed over
	over    bool   // both failed
}

func (w *walker) open() bool {
	w.choices = w.choices>>1 | w.choices<<63
	return w.choices&1 != 0
}

func (w *walker) value() {
	kind := w.s.Kind()
	if want := byte(w.dec.PeekKind()); want != kind && want != 0 {
		w.t.Fatalf("%q: kind %q, want %q", w.s.Text(), kind, want)
	}
	switch {
	case kind == '{' && w.open():
		w.same(w.s.Open('{'))
		w.members()
	case kind == '[' && w.open():
		w.same(w.s.Open('['))
		w.elements()
	default:
		got := w.s.Value()
		want, err := w.dec.ReadValue()
		w.judge(got != nil, err)
		if !w.over && !bytes.Equal(got, want) {
			w.t.Fatalf("%q: value %q, want %q", w.s.Text(), got, want)
		}
	}
}

func (w *walker) members() {
	for !w.over {
		if w.dec.PeekKind() == '}' {
			name, ok := w.next()
			w.leave(!ok, string(name))
			return
		}
		name, ok := w.next()
		want, err := w.name()
		if !ok && w.s.Err() == nil {
			w.t.Fatalf("%q: an object ended, and not to the decoder: %v", w.s.Text(), err)
		}
		if ok && err == nil && w.s.Err() != nil { // the colon is missing, which the decoder sees now
			_, err = w.dec.ReadValue()
			w.judge(false, err)
			return
		}
		if w.judge(ok, err); !w.over && !bytes.Equal(name, want) {
			w.t.Fatalf("%q: name %q, want %q", w.s.Text(), name, want)
		}
		if !w.over {
			w.value()
		}
	}
}

// next steps over a name by either door.
func (w *walker) next() (name []byte, ok bool) {
	if !w.open() {
		return w.s.Name()
	}
	number, ok := w.s.Member(&usual)
	if !ok {
		return nil, false
	}
	name = w.s.Named()
	if own := usual.Of(name[1 : len(name)-1]); number != 0 && own != number {
		w.t.Fatalf("%q: name %s has number %d, want %d", w.s.Text(), name, number, own)
	}
	return name, true
}

// usual are names of each length that is compared in another way, some of which begin alike.
var usual = namesOf("id", "uri", "name", "task", "taskId", "status", "statusMessage", "notifications", "protocol/version", "protocol/a/longer/one")

func namesOf(names ...string) (n Names) {
	for i, name := range names {
		n.Add(name, uint64(i+1))
	}
	return n
}

// name is the decoder's next name. What begins as none is none, and nothing that is cut off.
func (w *walker) name() (jsontext.Value, error) {
	if kind := w.dec.PeekKind(); kind != '"' && kind != jsontext.KindInvalid {
		return nil, errors.New("no name")
	}
	return w.dec.ReadValue()
}

func (w *walker) elements() {
	for !w.over {
		if w.dec.PeekKind() == ']' {
			w.leave(!w.s.Element(), "")
			return
		}
		if !w.s.Element() {
			_, err := w.dec.ReadToken()
			w.judge(false, err)
			return
		}
		w.value()
	}
}

// leave has both readers leave an object or array.
func (w *walker) leave(left bool, read string) {
	_, err := w.dec.ReadToken()
	if w.judge(left && w.s.Err() == nil, err); read != "" {
		w.t.Fatalf("%q: the scanner reads %q where all ends", w.s.Text(), read)
	}
}

// same has the decoder step into what the scanner did.
func (w *walker) same(did bool) {
	_, err := w.dec.ReadToken()
	w.judge(did, err)
}

// judge compares what the last step came to.
func (w *walker) judge(ok bool, err error) {
	w.t.Helper()
	cut := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
	switch {
	case ok != (err == nil):
		w.t.Fatalf("%q: the scanner says %v, the decoder %v", w.s.Text(), w.s.Err(), err)
	case err != nil && errors.Is(w.s.Err(), io.ErrUnexpectedEOF) != cut && utf8.Valid(w.s.Text()):
		w.t.Fatalf("%q: the scanner says %v, the decoder %v", w.s.Text(), w.s.Err(), err)
	case err == nil && w.s.Depth() != w.dec.StackDepth():
		w.t.Fatalf("%q: depth %d, want %d", w.s.Text(), w.s.Depth(), w.dec.StackDepth())
	}
	w.over = err != nil
}

func (w *walker) ends() bool {
	_, err := w.dec.ReadToken()
	return errors.Is(err, io.EOF)
}
