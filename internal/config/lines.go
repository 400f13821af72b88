package config

import (
	"strings"

	"github.com/BurntSushi/toml"
)

type lineMap map[string]int

func (m lineMap) of(key string) int {
	for {
		if line, ok := m[key]; ok {
			return line
		}
		cut := strings.LastIndexAny(key, ".[")
		if cut < 0 {
			return 0
		}
		key = key[:cut]
	}
}

// lineFinder reads valid TOML just closely enough to say where each key stands. The TOML library
// keeps positions to itself.
type lineFinder struct {
	text  string
	pos   int
	line  int
	table string         // the path that the last [header] opened
	count map[string]int // how often a [[header]] has opened each path
	found lineMap
}

func findLines(text string) lineMap {
	f := &lineFinder{text: withoutBOM(text), line: 1, count: map[string]int{}, found: lineMap{}}
	for f.blank("\n"); f.pos < len(f.text); f.blank("\n") {
		if f.peek() == '[' {
			f.header()
		} else {
			f.pair(f.table)
		}
	}
	return f.found
}

// withoutBOM is text as the TOML parser reads it.
func withoutBOM(text string) string {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff", "\xef\xbb\xbf"} {
		if rest, ok := strings.CutPrefix(text, mark); ok {
			return rest
		}
	}
	return text
}

// header reads [a.b] or [[a.b]]. Of a list of tables in the path the last element is meant.
func (f *lineFinder) header() {
	list := strings.HasPrefix(f.text[f.pos:], "[[")
	names := f.names(']')
	path := ""
	for i, name := range names {
		path = joinKey(path, name)
		f.note(path)
		if list && i == len(names)-1 {
			f.count[path]++
		}
		if n := f.count[path]; n > 0 {
			path = elementKey(path, n-1)
		}
	}
	f.table = path
	f.note(path)
	f.skip(']')
}

func (f *lineFinder) pair(table string) {
	for _, name := range f.names('=') {
		table = joinKey(table, name)
		f.note(table)
	}
	f.skip('=')
	f.blank("")
	f.value(table)
}

func (f *lineFinder) names(end byte) []string {
	var names []string
	for f.pos < len(f.text) && f.peek() != end {
		switch c := f.peek(); c {
		case '"', '\'':
			names = append(names, unquote(f.quoted()))
		case '[', '.', ' ', '\t':
			f.pos++
		default:
			names = append(names, f.until("[]=. \t\n\"'"))
		}
	}
	return names
}

func (f *lineFinder) value(key string) {
	switch f.peek() {
	case '"', '\'':
		f.quoted()
	case '[':
		f.pos++
		for i := 0; f.more(']'); i++ {
			f.note(elementKey(key, i))
			f.value(elementKey(key, i))
		}
		f.pos++
	case '{':
		f.pos++
		for f.more('}') {
			f.pair(key)
		}
		f.pos++
	default:
		f.until(",]}#\n")
	}
}

// more moves to the next element of a list or inline table, if there is one before end.
func (f *lineFinder) more(end byte) bool {
	f.blank("\n,")
	return f.pos < len(f.text) && f.peek() != end
}

func (f *lineFinder) quoted() string {
	start, quote := f.pos, f.text[f.pos:f.pos+1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(f.text[f.pos:], long) {
		quote = long
	}
	f.pos += len(quote)
	for f.pos < len(f.text) && !strings.HasPrefix(f.text[f.pos:], quote) {
		if quote[0] == '"' && f.peek() == '\\' {
			f.pos++
		}
		f.step()
	}
	f.pos = min(f.pos+len(quote), len(f.text))
	// A long string may end in up to two quotes of its own before the closing three.
	for len(quote) == 3 && f.peek() == quote[0] {
		f.pos++
	}
	return f.text[start:f.pos]
}

// unquote asks the library: TOML's escapes are not Go's.
func unquote(quoted string) string {
	var tree map[string]any
	if _, err := toml.Decode(quoted+" = 0", &tree); err != nil {
		return quoted
	}
	for name := range tree {
		return name
	}
	return quoted
}

func (f *lineFinder) blank(also string) {
	for f.pos < len(f.text) {
		switch c := f.peek(); {
		case c == '#':
			f.until("\n")
		case c == ' ' || c == '\t' || c == '\r' || strings.IndexByte(also, c) >= 0:
			f.step()
		default:
			return
		}
	}
}

func (f *lineFinder) skip(mark byte) {
	for f.pos < len(f.text) && f.peek() == mark {
		f.pos++
	}
}

// until passes one byte, then all before one of stop. That it always passes one keeps every loop
// finite.
func (f *lineFinder) until(stop string) string {
	start := f.pos
	f.step()
	for f.pos < len(f.text) && strings.IndexByte(stop, f.peek()) < 0 {
		f.step()
	}
	return f.text[start:f.pos]
}

func (f *lineFinder) peek() byte {
	if f.pos >= len(f.text) {
		return 0
	}
	return f.text[f.pos]
}

func (f *lineFinder) step() {
	if f.peek() == '\n' {
		f.line++
	}
	f.pos = min(f.pos+1, len(f.text))
}

func (f *lineFinder) note(path string) {
	if _, ok := f.found[path]; !ok {
		f.found[path] = f.line
	}
}
