package jsonscan

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestScannerHandsOutViews(t *testing.T) {
	text := []byte(` { "a" : [1, "x\"y"] , "b\u0063" : {"c":null} } `)
	s := New(text)
	s.Open('{')
	name, ok := s.Name()
	value := s.Value()
	if !ok || string(name) != `"a"` || string(value) != `[1, "x\"y"]` || &value[0] != &text[s.At()-len(value)] {
		t.Errorf("got %s, %s, %v", name, value, ok)
	}
	name, ok = s.Name()
	if kind := s.Kind(); !ok || string(name) != `"b\u0063"` || kind != '{' || text[s.At()] != '{' {
		t.Errorf("got %s, %c at %d", name, kind, s.At())
	}
	s.Value()
	if _, ok = s.Name(); ok || s.Depth() != 0 || !s.End() {
		t.Errorf("got %v, depth %d, %v", ok, s.Depth(), s.Err())
	}
}

// A text that ends too early is told from one that is wrong: who reads only a beginning goes by it.
func TestScannerTellsACutFromAFault(t *testing.T) {
	const text = `{"a":[-1.5e+7,true,{"b":"\u00e9\n"}],"c":null}`
	for end := range len(text) {
		s := New([]byte(text[:end]))
		if s.Value(); !errors.Is(s.Err(), io.ErrUnexpectedEOF) {
			t.Errorf("cut after %q: %v", text[:end], s.Err())
		}
		s = New([]byte(text[:end] + "\x00"))
		if s.Value(); !errors.As(s.Err(), new(SyntaxError)) {
			t.Errorf("broken after %q: %v", text[:end], s.Err())
		}
	}
}

func TestScannerStopsAtTheDepthThatOthersStopAt(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat(`[{"x":`, n/2) + "1" + strings.Repeat(`}]`, n/2)) }
	for depth, want := range map[int]error{maxDepth: nil, maxDepth + 2: ErrDepth} {
		passed := New(nested(depth))
		passed.Value()
		opened := New(nested(depth))
		for opened.Kind() == '[' && opened.Open('[') && opened.Element() && opened.Open('{') {
			opened.Name()
		}
		half := New(nested(depth))
		for range 33 {
			_ = half.Open('[') && half.Element() && half.Open('{')
			half.Name()
		}
		half.Value()
		for how, s := range map[string]*Scanner{"passed over": &passed, "opened": &opened, "half opened": &half} {
			if !errors.Is(s.Err(), want) {
				t.Errorf("%d deep, %s: got %v, want %v", depth, how, s.Err(), want)
			}
		}
	}
}

func TestScannerStaysWhereItHasFailed(t *testing.T) {
	s := New([]byte(`[1,]`))
	for s.Open('['); s.Element(); {
		s.Value()
	}
	at, err := s.At(), s.Err()
	if name, ok := s.Name(); ok || name != nil || s.Value() != nil || s.Kind() != 0 || s.Open('[') || s.Element() || s.End() {
		t.Error("it goes on")
	}
	if err == nil || s.Err() != err || s.At() != at {
		t.Errorf("got %v at %d, want %v at %d", s.Err(), s.At(), err, at)
	}
}

// Strings are passed over eight bytes a step, long ones 32, and what stands in one is to be found at each of these, with any
// length of text behind it.
func TestAStringIsReadAlikeWhereverItStands(t *testing.T) {
	parts := []string{"", "\x00", "\x1f", "\x7f", " ", "!", "#", "[", "]", `\"`, `\\`, `\n`, `\u00e9`, `\x`, `\u00g0`, `"`, `","`, "\\", "\"\n",
		"\u00e9", "\U0001f600", "\x80", "\x9f", "\xa0", "\xa2", "\xdc", "\xff", "\xa2\"", "\xdc\\n", "\u00e9\x1f", "\x80\"\x01"}
	for _, part := range parts {
		for before := range 30 {
			for after := range 10 {
				for behind := range 9 {
					inner := strings.Repeat("x", before%10+before/10*35) + part + strings.Repeat("y", after)
					readString(t, []byte(`"`+inner+`"`+strings.Repeat(" ", behind)))
				}
			}
		}
	}
}

// readString holds what the scanner reads in text, as a value, as a name and within a value, against encoding/json.
func readString(t *testing.T, text []byte) {
	t.Helper()
	s := New(text)
	value := s.Value()
	valid := json.Valid(text)
	if s.End() != valid {
		t.Fatalf("%q: valid is %v, want %v", text, !valid, valid)
	}
	if !valid {
		return
	}
	plain, ascii := IsPlain(value), !strings.ContainsFunc(string(text), func(c rune) bool { return c >= utf8.RuneSelf })
	if s.IsPlain() != plain || s.IsASCII() != ascii || string(value) != strings.TrimRight(string(text), " ") {
		t.Fatalf("%q: got %q, plain %v, ASCII %v", text, value, s.IsPlain(), s.IsASCII())
	}
	object := append(append([]byte("{"), text...), ":1}"...)
	s = New(object)
	s.Open('{')
	if name, ok := s.Name(); !ok || string(name) != string(value) || s.IsPlain() != plain || s.IsASCII() != ascii {
		t.Fatalf("%q: the name is %q, plain %v, ASCII %v", object, name, s.IsPlain(), s.IsASCII())
	}
	for _, around := range []string{`{"a":[%],"b":{}}`, `{%:{"a":"b"}}`, `[1,{"a":%}]`} {
		s = New([]byte(strings.Replace(around, "%", string(text), 1)))
		if s.Value(); !s.End() || s.IsPlain() != plain || s.IsASCII() != ascii {
			t.Fatalf("%q: %v, plain %v, ASCII %v", s.Text(), s.Err(), s.IsPlain(), s.IsASCII())
		}
	}
}

func BenchmarkValue(b *testing.B) {
	for name, text := range map[string]string{
		"text":    `"` + strings.Repeat("The quick brown fox jumps over the lazy dog. ", 2000) + `"`,
		"objects": `[` + strings.Repeat(`{"id":12,"name":"row","tags":["a","b"]},`, 2000) + `{}]`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for data := []byte(text); b.Loop(); {
				if s := New(data); s.Value() == nil {
					b.Fatal(s.Err())
				}
			}
		})
	}
}
